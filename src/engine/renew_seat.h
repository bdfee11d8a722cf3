#pragma once

#include <cstddef>

#include "engine/rank_seat.h"

namespace evener::engine {

// What became of the device of a seat whose rank has failed.
enum class OldDevice {
  lost,    // nobody uses it any more
  in_use,  // by the rank, which was given up
};

// Gives the seat of a rank another device of the same name, and loads the rank's weights onto it;
// those that lie in the host's memory stay. On an error the seat is left without a device or
// without a model, and it may be tried again. Errors: as device::create_device and
// model::load_model.
Status renew(RankSeats& seats, size_t rank, OldDevice old);

// Whether it has all that a rank needs, and its device is sound. Not while a rank uses it.
bool is_sound(const RankSeat& seat);

}  // namespace evener::engine
