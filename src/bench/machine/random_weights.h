#pragma once

#include <cstddef>
#include <vector>

#include "tensor/dtype.h"

namespace evener::bench {

// A matrix of `num_weights` weights as a file would hold it, for timing: any bits do, for all codes
// are legal, but numbers are neither subnormal nor infinite, at which arithmetic is slow or stops.
std::vector<std::byte> random_weights(DType dtype, size_t num_weights);

}  // namespace evener::bench
