#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::device {

// How fast a device goes through a weight, as linear maps of the commonest format use it. To be
// compared with that of other devices; a model reaches about as much.
struct DeviceSpeed {
  double bytes_per_s = 0;       // of weights, for one row
  double operations_per_s = 0;  // for many rows; a multiply-add is two
};

// All devices at the same time, as they will work together, each on a thread of its own: what they
// share they get in part. Takes some tenths of a second and 80 MB on each device. Errors: as
// create_device; out_of_memory; as Device::status.
Result<std::vector<DeviceSpeed>> measure_speeds(const std::vector<std::string>& names,
                                                size_t num_threads);

}  // namespace evener::device
