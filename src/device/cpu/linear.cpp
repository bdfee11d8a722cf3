#include "device/cpu/linear.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "device/cpu/packed_weight.h"
#include "quant/format.h"

namespace evener::device::cpu {
namespace {

// Up to this many rows weights are decoded on the way; beyond, tiles of them are decoded once.
constexpr size_t kFewRows = 8;

// Groups in a piece of work of the many-rows kernels: as many as share a decoded tile.
constexpr size_t kTileGroups = 2;

size_t panels_of(size_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

// Rows as a kernel wants them: panels of rounded activations, or the rows themselves.
struct PreparedInput {
  const void* data = nullptr;
  size_t rows_per_step = 1;  // rows between two steps of step_bytes
  size_t step_bytes = 0;

  const std::byte* at_row(size_t row) const {
    return static_cast<const std::byte*>(data) + row / rows_per_step * step_bytes;
  }
};

template <class Panel>
PreparedInput quantise(ThreadPool& pool, void (*quantise_row)(const float*, size_t, Panel*, size_t),
                       size_t block_inputs, ConstMatrixView x, Memory& scratch) {
  const size_t num_blocks = x.cols / block_inputs;
  const size_t size_bytes = panels_of(x.rows) * num_blocks * sizeof(Panel);
  if (scratch.size_bytes() < size_bytes) {
    auto grown = Memory::allocate(size_bytes, "rounded activations");
    EVENER_ASSERT(grown.has_value());
    scratch = *std::move(grown);
  }
  auto* const panels = reinterpret_cast<Panel*>(scratch.data());
  pool.parallel_for(x.rows, kPanelRows, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      quantise_row(x.row(row), x.cols, panels + row / kPanelRows * num_blocks, row % kPanelRows);
    }
  });
  return {panels, kPanelRows, num_blocks * sizeof(Panel)};
}

const PackedWeight& packed(const HostLinearPart& part) {
  return static_cast<const PackedWeight&>(*part.weight);
}

bool any_wants(std::span<const HostLinearPart> parts, Activations kind) {
  return std::ranges::any_of(parts, [kind](const HostLinearPart& part) {
    return packed(part).kernels().activations == kind;
  });
}

// The input of one call, prepared in each way that a part asks for.
class Inputs {
 public:
  Inputs(ThreadPool& pool, const LinearKernels& kernels, LinearScratch& scratch, ConstMatrixView x,
         std::span<const HostLinearPart> parts) {
    plain_ = {x.data, 1, x.stride * sizeof(float)};
    if (any_wants(parts, Activations::q8_0)) {
      q8_0_ = quantise(pool, kernels.quantise_q8_0, 32, x, scratch.activations_q8_0);
    }
    if (any_wants(parts, Activations::q8_k)) {
      q8_k_ = quantise(pool, kernels.quantise_q8_k, 256, x, scratch.activations_q8_k);
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

struct Range {
  size_t begin;
  size_t end;
};

LinearArgs arguments(const HostLinearPart& part, const PreparedInput& input, Range rows,
                     Range groups) {
  const PackedWeight& weight = packed(part);
  return {.weights = weight.group(0),
          .group_bytes = weight.group_bytes(),
          .group_begin = groups.begin,
          .group_end = groups.end,
          .inputs = weight.inputs(),
          .outputs = weight.outputs(),
          .activations = input.at_row(rows.begin),
          .panel_bytes = input.step_bytes,
          .rows = rows.end - rows.begin,
          .bias = part.bias,
          .y = part.y.row(rows.begin),
          .y_stride = part.y.stride};
}

// The pieces of all parts in one row: a piece is kTileGroups neighbouring groups of one part.
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
        body(part, Range{first * kTileGroups, std::min(last * kTileGroups, num_groups)});
      }
      begin -= first;
      end -= last;
    }
  }

 private:
  static size_t of(const HostLinearPart& part) {
    return (packed(part).num_groups() + kTileGroups - 1) / kTileGroups;
  }

  std::span<const HostLinearPart> parts_;
  size_t total_ = 0;
};

// Pieces that one thread takes at a time: some 64 K weights, and enough pieces for all.
size_t few_rows_grain(const Pieces& pieces, size_t inputs, size_t num_threads) {
  constexpr size_t kWeightsPerGrain = 64 * 1024;
  const size_t wanted = std::max<size_t>(1, kWeightsPerGrain / (16 * std::max<size_t>(1, inputs)));
  return std::clamp<size_t>(pieces.total() / (4 * num_threads), 1, wanted);
}

void compute_few(ThreadPool& pool, const Inputs& inputs, ConstMatrixView x,
                 std::span<const HostLinearPart> parts) {
  const Pieces pieces(parts);
  const size_t grain = few_rows_grain(pieces, x.cols, pool.num_threads());
  pool.parallel_for(pieces.total(), grain, [&](size_t begin, size_t end) {
    pieces.for_each(begin, end, [&](const HostLinearPart& part, Range groups) {
      const FormatKernels& kernels = packed(part).kernels();
      kernels.few_rows(arguments(part, inputs.of(kernels.activations), {0, x.rows}, groups));
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
      kernels.many_rows(arguments(part, inputs.of(kernels.activations), rows, groups));
    });
  });
}

void check(ConstMatrixView x, std::span<const HostLinearPart> parts) {
  for (const HostLinearPart& part : parts) {
    EVENER_ASSERT(part.weight != nullptr);
    EVENER_ASSERT(part.weight->inputs() == x.cols);
    EVENER_ASSERT(part.weight->outputs() == part.y.cols);
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
  for (size_t i = 0; i < ids.size(); ++i) format->decode(rows.row(size_t(ids[i])), y.row(i));
}

}  // namespace evener::device::cpu
