#include "engine/renew_seat.h"

#include <utility>

#include "device/create_device.h"
#include "device/device_name.h"
#include "model/loader.h"

namespace evener::engine {

Status renew(RankSeats& seats, size_t rank, OldDevice old) {
  RankSeat& seat = seats.seats[rank];
  ASSIGN_OR_RETURN(const device::DeviceName name, device::parse_device_name(seat.device_name));
  const bool is_cpu = name.kind == device::DeviceKind::cpu;
  if (!is_cpu || old == OldDevice::lost) seat.model.reset();  // to make room
  seat.device.reset();
  ASSIGN_OR_RETURN(seat.device, device::create_device(seat.device_name, seat.num_threads));
  if (seat.model) return {};
  ASSIGN_OR_RETURN(const auto parts, model::cut_model(*seat.file, seats.layout));
  ASSIGN_OR_RETURN(seat.model, model::load_model(*seat.file, parts[rank], *seat.device, {}));
  return {};
}

bool is_sound(const RankSeat& seat) {
  return seat.device != nullptr && seat.model != nullptr && seat.device->status().has_value();
}

}  // namespace evener::engine
