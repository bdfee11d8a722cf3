#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "device/cpu/kernels/linear_kernels.h"
#include "device/cpu/linear.h"
#include "device/cpu/packed_weight.h"

namespace evener::device::cpu {

// What linear() and expert_ffn() share: inputs as the kernels want them, and how the work of
// several maps is cut.

// Up to this many rows weights are decoded on the way; beyond, tiles of them are decoded once.
constexpr size_t kFewRows = 8;

// Groups in a piece of work of the many-rows kernels: as many as share a decoded tile.
constexpr size_t kPieceGroups = 2;

struct Range {
  size_t begin;
  size_t end;
};

// Rows as a kernel wants them: panels of rounded activations, or the rows themselves.
struct PreparedInput {
  const void* data = nullptr;
  size_t rows_per_step = 1;  // rows between two steps of step_bytes
  size_t step_bytes = 0;

  const std::byte* at_row(size_t row) const {
    return static_cast<const std::byte*>(data) + row / rows_per_step * step_bytes;
  }
};

// Of a panel of rounded rows; `kind` is not f32.
size_t bytes_of_panel(Activations kind, size_t inputs);

// Rounds one row into place `row` of its panel.
void round_row(const LinearKernels& kernels, Activations kind, std::span<const float> x,
               std::byte* panel, size_t row);

inline const PackedWeight& packed(const HostLinearPart& part) {
  return static_cast<const PackedWeight&>(*part.weight);
}

// Whether a part's weights meet inputs of this kind.
bool any_wants(std::span<const HostLinearPart> parts, Activations kind);

struct LinearJob {
  const HostLinearPart& part;
  size_t expert = 0;
  Range rows;  // of the input and of part.y; the first begins a panel
  Range groups;
};
LinearArgs linear_args(const LinearJob& job, const PreparedInput& input);

// The pieces of all parts in one row: a piece is kPieceGroups neighbouring groups of one part.
class Pieces {
 public:
  explicit Pieces(std::span<const HostLinearPart> parts) : parts_(parts) {
    for (const HostLinearPart& part : parts) total_ += of(part);
  }

  size_t total() const { return total_; }

  // body(part, groups) for pieces [begin, end), those of one part together.
  template <class Body>
  void for_each(size_t begin, size_t end, Body body) const {
    for (const HostLinearPart& part : parts_) {
      const size_t count = of(part);
      const size_t first = std::min(begin, count);
      const size_t last = std::min(end, count);
      if (first < last) {
        const size_t num_groups = packed(part).num_groups();
        body(part, Range{first * kPieceGroups, std::min(last * kPieceGroups, num_groups)});
      }
      begin -= first;
      end -= last;
    }
  }

 private:
  static size_t of(const HostLinearPart& part) {
    return (packed(part).num_groups() + kPieceGroups - 1) / kPieceGroups;
  }

  std::span<const HostLinearPart> parts_;
  size_t total_ = 0;
};

// Pieces that one thread takes at a time of `total`: some 64 K weights, and enough for all threads.
size_t few_rows_grain(size_t total, size_t inputs, size_t num_threads);

}  // namespace evener::device::cpu
