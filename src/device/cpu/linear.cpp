#include "device/cpu/linear.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "device/cpu/linear_work.h"
#include "device/cpu/packed_weight.h"
#include "quant/format.h"

namespace evener::device::cpu {
namespace {

// Rounds all rows, panel after panel.
PreparedInput round_rows(ThreadPool& pool, const LinearKernels& kernels, Activations kind,
                         ConstMatrixView x, Memory& scratch) {
  const size_t panel_bytes = bytes_of_panel(kind, x.cols);
  const size_t size_bytes = (x.rows + kPanelRows - 1) / kPanelRows * panel_bytes;
  if (scratch.size_bytes() < size_bytes) {
    auto grown = Memory::allocate(size_bytes, "rounded activations");
    EVENER_ASSERT(grown.has_value());
    scratch = *std::move(grown);
  }
  pool.parallel_for(x.rows, kPanelRows, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      round_row(kernels, kind, {x.row(row), x.cols},
                scratch.data() + row / kPanelRows * panel_bytes, row % kPanelRows);
    }
  });
  return {scratch.data(), kPanelRows, panel_bytes};
}

// The input of one call, prepared in each way that a part asks for.
class Inputs {
 public:
  Inputs(ThreadPool& pool, const LinearKernels& kernels, LinearScratch& scratch, ConstMatrixView x,
         std::span<const HostLinearPart> parts) {
    plain_ = {x.data, 1, x.stride * sizeof(float)};
    if (any_wants(parts, Activations::q8_0)) {
      q8_0_ = round_rows(pool, kernels, Activations::q8_0, x, scratch.activations_q8_0);
    }
    if (any_wants(parts, Activations::q8_k)) {
      q8_k_ = round_rows(pool, kernels, Activations::q8_k, x, scratch.activations_q8_k);
    }
  }

  const PreparedInput& of(Activations kind) const {
    if (kind == Activations::q8_0) return q8_0_;
    return kind == Activations::q8_k ? q8_k_ : plain_;
  }

 private:
  PreparedInput plain_;
  PreparedInput q8_0_;
  PreparedInput q8_k_;
};

void compute_few(ThreadPool& pool, const Inputs& inputs, ConstMatrixView x,
                 std::span<const HostLinearPart> parts) {
  const Pieces pieces(parts);
  const size_t grain = few_rows_grain(pieces.total(), x.cols, pool.num_threads());
  pool.parallel_for(pieces.total(), grain, [&](size_t begin, size_t end) {
    pieces.for_each(begin, end, [&](const HostLinearPart& part, Range groups) {
      const FormatKernels& kernels = packed(part).kernels();
      kernels.few_rows(linear_args({.part = part, .rows = {0, x.rows}, .groups = groups},
                                   inputs.of(kernels.activations)));
    });
  });
}

// Slab after slab of rows: its activations stay in the cache while all weights pass.
void compute_many(ThreadPool& pool, const Inputs& inputs, ConstMatrixView x,
                  std::span<const HostLinearPart> parts) {
  const Pieces pieces(parts);
  const size_t num_slabs = (x.rows + kTileRows - 1) / kTileRows;
  pool.parallel_for(num_slabs * pieces.total(), 1, [&](size_t index, size_t) {
    const size_t row = index / pieces.total() * kTileRows;
    const size_t piece = index % pieces.total();
    pieces.for_each(piece, piece + 1, [&](const HostLinearPart& part, Range groups) {
      const FormatKernels& kernels = packed(part).kernels();
      const Range rows{row, std::min(row + kTileRows, x.rows)};
      kernels.many_rows(linear_args({.part = part, .rows = rows, .groups = groups},
                                    inputs.of(kernels.activations)));
    });
  });
}

void check(ConstMatrixView x, std::span<const HostLinearPart> parts) {
  for (const HostLinearPart& part : parts) {
    EVENER_ASSERT(part.weight != nullptr);
    EVENER_ASSERT(part.weight->inputs() == x.cols);
    EVENER_ASSERT(part.weight->outputs() == part.y.cols);
    EVENER_ASSERT(part.weight->num_experts() == 1);
    EVENER_ASSERT(part.y.rows == x.rows);
  }
}

}  // namespace

const LinearKernels& linear_kernels(Isa isa) {
  return isa == Isa::avx2 ? linear_kernels_avx2 : linear_kernels_avx512vnni;
}

void linear(ThreadPool& pool, const LinearKernels& kernels, LinearScratch& scratch,
            ConstMatrixView x, std::span<const HostLinearPart> parts) {
  check(x, parts);
  if (x.rows == 0) return;
  const Inputs inputs(pool, kernels, scratch, x, parts);
  if (x.rows <= kFewRows) {
    compute_few(pool, inputs, x, parts);
  } else {
    compute_many(pool, inputs, x, parts);
  }
}

void embedding_rows(const Weight& weight, std::span<const int32_t> ids, MatrixView y) {
  EVENER_ASSERT(y.rows == ids.size());
  EVENER_ASSERT(y.cols == weight.inputs());
  const auto& rows = static_cast<const EmbeddingWeight&>(weight);
  const quant::Format* const format = quant::find_format(weight.dtype());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) {
      std::fill_n(y.row(i), y.cols, 0.0F);
    } else {
      format->decode(rows.row(size_t(ids[i])), y.row(i));
    }
  }
}

}  // namespace evener::device::cpu
