#include "device/peer_link.h"

#include <utility>

#include "device/vulkan/card_device.h"
#include "device/vulkan/card_link.h"

namespace evener::device {

bool are_cards(const Device& from, const Device& to) {
  const auto is_card = [](const Device& device) {
    return dynamic_cast<const vulkan::CardDevice*>(&device) != nullptr;
  };
  return is_card(from) && is_card(to);
}

Result<std::unique_ptr<PeerLink>> link_devices(std::shared_ptr<Device> from,
                                               std::shared_ptr<Device> to, size_t slot_bytes) {
  if (!are_cards(*from, *to)) {
    return Error{.code = Code::unsupported,
                 .doing = "share memory between devices",
                 .where = from->info().name + " and " + to->info().name,
                 .why = "they are not two cards",
                 .remedy = "data go through the host"};
  }
  return vulkan::CardLink::create(std::static_pointer_cast<vulkan::CardDevice>(std::move(from)),
                                  std::static_pointer_cast<vulkan::CardDevice>(std::move(to)),
                                  slot_bytes);
}

}  // namespace evener::device
