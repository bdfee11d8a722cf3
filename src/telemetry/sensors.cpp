#include "telemetry/sensors.h"

#include <algorithm>
#include <utility>

namespace evener::telemetry {
namespace {

// A reading that is a little early counts: intervals are not exact.
constexpr std::chrono::milliseconds kCoresPause{950};
constexpr std::chrono::milliseconds kNvidiaPause{1'950};
constexpr std::chrono::milliseconds kNvidiaTimeMax{2'000};

bool any_asleep(const host::FileTree& files, const std::vector<PciCard>& cards) {
  return std::ranges::any_of(cards, [&](const PciCard& card) { return is_asleep(files, card); });
}

std::vector<AmdCard> find_amd_cards(const host::FileTree& files) {
  std::vector<AmdCard> cards;
  for (PciCard& card : find_pci_cards(files, kAmd, "amdgpu")) cards.emplace_back(files, card);
  return cards;
}

}  // namespace

Sensors Sensors::open(SensorOptions options) { return Sensors(std::move(options)); }

Sensors::Sensors(SensorOptions options)
    : files_(options.root),
      cores_(files_),
      load_(files_, std::move(options.own_processes)),
      power_(files_),
      amd_cards_(find_amd_cards(files_)),
      nvidia_cards_(find_pci_cards(files_, kNvidia, "nvidia")),
      // Asking wakes all of them.
      nvidia_smi_(nvidia_cards_.empty() || any_asleep(files_, nvidia_cards_) ? std::string()
                                                                             : options.nvidia_smi),
      num_cards_(amd_cards_.size() + nvidia_cards_.size()) {
  if (power_.missing()) missing_.push_back(*power_.missing());
  if (!nvidia_cards_.empty() && !nvidia_smi_.answers()) {
    missing_.push_back({.what = "sensors of NVIDIA's cards",
                        .why = options.nvidia_smi.empty() ? "there is no nvidia-smi"
                                                          : "nvidia-smi did not answer, or a card "
                                                            "sleeps and is not woken",
                        .remedy = "install the program that came with the driver, and keep the "
                                  "cards awake (nvidia-persistenced)"});
  }
}

Sample Sensors::read(std::chrono::steady_clock::time_point now) {
  Sample sample;
  sample.at = now;
  load_.read(files_, now, sample.host);
  sample.host.cpu_power_w = power_.read_w(files_, now);
  if (now >= cores_due_) {
    cores_.read(files_, sample.host);
    cores_due_ = now + kCoresPause;
  }
  for (const AmdCard& card : amd_cards_) sample.cards.push_back(card.read(files_));
  read_nvidia(now, sample.cards);
  std::ranges::sort(sample.cards, {}, &CardReading::bus);
  return sample;
}

void Sensors::read_nvidia(std::chrono::steady_clock::time_point now,
                          std::vector<CardReading>& cards) {
  if (!nvidia_smi_.answers() || now < nvidia_due_ || any_asleep(files_, nvidia_cards_)) return;
  for (CardReading& card : nvidia_smi_.read(kNvidiaTimeMax)) cards.push_back(std::move(card));
  nvidia_due_ = now + kNvidiaPause;
}

}  // namespace evener::telemetry
