#include "device/choose_link.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/log.h"
#include "device/burn_in.h"

namespace evener::device {
namespace {

// A chunk of a prompt of 512 tokens in a model whose rows have 8192 values.
constexpr size_t kSlotBytes = size_t{16} << 20;

struct Proven {
  std::unique_ptr<PeerLink> link;
  double bytes_per_s = 0;
};

Result<Proven> prove(const std::shared_ptr<Device>& from, const std::shared_ptr<Device>& to) {
  Proven proven;
  ASSIGN_OR_RETURN(proven.link, link_devices(from, to, kSlotBytes));
  RETURN_IF_ERROR(burn_in(*proven.link, *from, *to));
  ASSIGN_OR_RETURN(proven.bytes_per_s, direct_bytes_per_s(*proven.link, *from, *to));
  return proven;
}

std::string speed_text(double bytes_per_s) { return fmt::format("{:.2g} GB/s", bytes_per_s / 1e9); }

}  // namespace

std::shared_ptr<PeerLink> choose_link(const std::shared_ptr<Device>& from,
                                      const std::shared_ptr<Device>& to, PeerUse use) {
  if (use == PeerUse::off || !are_cards(*from, *to)) return nullptr;
  const std::string way = fmt::format("{} to {}", from->info().name, to->info().name);
  const auto host = host_bytes_per_s(*from, *to, kSlotBytes);
  const double host_speed = host ? *host : 0;
  auto proven = prove(from, to);
  if (!proven) {
    const Error& error = proven.error();
    log::info("{}: through the host, {}; not directly: {}: {}", way, speed_text(host_speed),
              error.where, error.why);
    return nullptr;
  }
  const std::string how = fmt::format("directly ({})", proven->link->how());
  if (use == PeerUse::automatic && proven->bytes_per_s <= host_speed) {
    log::info("{}: through the host, {}; {} {}", way, speed_text(host_speed), how,
              speed_text(proven->bytes_per_s));
    return nullptr;
  }
  log::info("{}: {}, {}; through the host {}", way, how, speed_text(proven->bytes_per_s),
            speed_text(host_speed));
  return std::move(proven->link);
}

}  // namespace evener::device
