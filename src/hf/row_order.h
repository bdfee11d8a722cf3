#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hf/family.h"
#include "hf/sizes.h"

namespace evener::hf {

// Where each stored row or column goes: [rows]. Empty: all stay.
using Moves = std::vector<uint32_t>;

// The moves of a matrix of `rows` rows and `columns` columns, of one or the other.
struct MatrixMoves {
  Moves rows;
  Moves columns;
};

// Error: corrupt, with `why` alone, if heads do not share the rows as `sizes` has it; the caller
// knows which tensor it is.
Result<MatrixMoves> moves_of(Order order, const Sizes& sizes, uint64_t rows, uint64_t columns);

}  // namespace evener::hf
