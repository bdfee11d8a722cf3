#pragma once

#include <hwloc.h>

#include <memory>

#include "base/error.h"

namespace evener::device::cpu {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// The machine's, read once, since that takes a while; any thread may read it. Error: internal.
Result<hwloc_topology_t> machine_topology();

}  // namespace evener::device::cpu
