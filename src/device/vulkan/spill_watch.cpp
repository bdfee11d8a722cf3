#include "device/vulkan/spill_watch.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "device/vulkan/card_facts.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kLittle = size_t{128} << 20;  // what drivers keep there of their own
constexpr auto kLookInterval = std::chrono::seconds(5);

}  // namespace

SpillWatch::SpillWatch(std::string pci_address, std::filesystem::path sys)
    : pci_address_(std::move(pci_address)),
      sys_(std::move(sys)),
      used_before_(read_card_facts(pci_address_, sys_).gtt_used_bytes) {}

std::optional<size_t> SpillWatch::spilled_bytes(size_t own_bytes) const {
  if (!used_before_) return {};
  const auto used = read_card_facts(pci_address_, sys_).gtt_used_bytes;
  const size_t expected = *used_before_ + own_bytes + kLittle;
  if (!used || *used <= expected) return {};
  return *used - *used_before_ - own_bytes;
}

void SpillWatch::check(size_t own_bytes) {
  const auto now = std::chrono::steady_clock::now();
  if (was_said_ || !used_before_ || now < next_look_) return;
  next_look_ = now + kLookInterval;
  const auto spilled = spilled_bytes(own_bytes);
  if (!spilled) return;
  was_said_ = true;
  log::warning(
      "the card at {} is full: since this model was loaded it has moved {} to the host's memory, "
      "behind the bus, where they are ten times as slow. Close what else uses the card, or use a "
      "shorter context or a smaller model",
      pci_address_, bytes_text(*spilled));
}

}  // namespace evener::device::vulkan
