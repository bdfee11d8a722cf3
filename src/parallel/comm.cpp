#include "parallel/comm.h"

#include "base/assert.h"

namespace evener::parallel {

void SoloComm::gather(device::Device&, size_t, const device::Tensor&, const device::Tensor&) {
  EVENER_ASSERT(false);  // the part is the whole
}

void SoloComm::send(device::Device&, size_t, const device::Tensor&) { EVENER_ASSERT(false); }

void SoloComm::receive(device::Device&, size_t, const device::Tensor&) { EVENER_ASSERT(false); }

}  // namespace evener::parallel
