#include "device/cpu/packed_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "base/assert.h"
#include "device/cpu/pack_block.h"
#include "quant/format.h"

namespace evener::device::cpu {
namespace {

size_t bytes_of_group(const WeightSource& source, const FormatKernels& kernels, size_t lanes) {
  return source.inputs / kernels.block_inputs * kernels.lane_bytes * lanes;
}

Error unsupported(const WeightSource& source, std::string why) {
  return Error{.code = Code::unsupported,
               .doing = "pack a weight",
               .where = "tensor '" + std::string(source.name) + "'",
               .why = std::move(why),
               .remedy = "convert the model to one of the types that `evener inspect` names"};
}

size_t groups_of(const WeightSource& source, size_t lanes) {
  return (source.outputs + lanes - 1) / lanes;
}

// Packs groups of `source` to `packed`, which is zeroed. Groups are counted over the whole stack.
struct Packing {
  const WeightSource& source;
  const FormatKernels& kernels;
  PackBlock pack_block;
  size_t lanes;
  std::byte* packed;

  void pack_group(size_t index) const {
    const size_t num_blocks = source.inputs / kernels.block_inputs;
    const size_t source_block = info(source.dtype).block_bytes;
    const size_t packed_block = kernels.lane_bytes * lanes;
    std::byte* const to = packed + index * num_blocks * packed_block;
    const size_t expert = index / groups_of(source, lanes);
    const size_t output = index % groups_of(source, lanes) * lanes;
    const size_t num_outputs = std::min(lanes, source.outputs - output);
    const size_t row = expert * source.outputs + output;
    const std::byte* const from = source.bytes.data() + row * num_blocks * source_block;
    for (size_t block = 0; block < num_blocks; ++block) {
      for (size_t lane = 0; lane < num_outputs; ++lane) {
        pack_block(from + (lane * num_blocks + block) * source_block,
                   {.lane = lane, .num_lanes = lanes}, to + block * packed_block);
      }
    }
  }
};

Result<std::unique_ptr<Weight>> pack_linear(const WeightSource& source, ThreadPool& pool,
                                            const LinearKernels& kernels, MemoryPlace place) {
  const FormatKernels* const format = find_kernels(kernels, source.dtype);
  const PackBlock pack_block = find_pack_block(source.dtype);
  if (format == nullptr || pack_block == nullptr) {
    return unsupported(
        source, fmt::format("no kernel multiplies with type {}", evener::info(source.dtype).name));
  }
  if (source.inputs % format->block_inputs != 0) {
    return unsupported(source, fmt::format("{} inputs are no whole number of blocks of {}",
                                           source.inputs, format->block_inputs));
  }
  const size_t group_bytes = bytes_of_group(source, *format, kernels.lanes);
  size_t num_groups = 0;
  size_t size_bytes = 0;
  if (__builtin_mul_overflow(source.num_experts, groups_of(source, kernels.lanes), &num_groups) ||
      __builtin_mul_overflow(num_groups, group_bytes, &size_bytes)) {
    size_bytes = std::numeric_limits<size_t>::max();
  }
  ASSIGN_OR_RETURN(Memory memory, Memory::allocate(size_bytes, source.name, place));

  const Packing packing{source, *format, pack_block, kernels.lanes, memory.data()};
  constexpr size_t kBytesPerPiece = size_t{1} << 18;
  const size_t grain = std::max<size_t>(1, kBytesPerPiece / std::max<size_t>(1, group_bytes));
  pool.parallel_for(num_groups, grain, [&](size_t begin, size_t end) {
    for (size_t group = begin; group < end; ++group) packing.pack_group(group);
  });
  return std::make_unique<PackedWeight>(source, *format, kernels.lanes, std::move(memory));
}

}  // namespace

const FormatKernels* find_kernels(const LinearKernels& kernels, DType dtype) {
  for (const FormatTable* const table : kernels.tables) {
    for (const FormatKernels& format : std::span(table->formats, table->num_formats)) {
      if (format.dtype == uint32_t(dtype)) return &format;
    }
  }
  return nullptr;
}

PackedWeight::PackedWeight(const WeightSource& source, const FormatKernels& kernels, size_t lanes,
                           Memory memory)
    : Weight(source.dtype, source.outputs, source.inputs, source.num_experts),
      kernels_(&kernels),
      num_groups_(groups_of(source, lanes)),
      group_bytes_(bytes_of_group(source, kernels, lanes)),
      memory_(std::move(memory)) {}

EmbeddingWeight::EmbeddingWeight(const WeightSource& source)
    : Weight(source.dtype, source.outputs, source.inputs), bytes_(source.bytes) {}

std::span<const std::byte> EmbeddingWeight::row(size_t index) const {
  EVENER_ASSERT(index < outputs());
  const size_t row_bytes = bytes_.size() / outputs();
  return bytes_.subspan(index * row_bytes, row_bytes);
}

Result<std::unique_ptr<Weight>> pack_weight(const WeightSource& source, WeightUse use,
                                            ThreadPool& pool, const LinearKernels& kernels,
                                            MemoryPlace place) {
  const DTypeInfo& layout = evener::info(source.dtype);
  if (source.inputs % layout.block_size != 0) {
    return unsupported(source, fmt::format("{} inputs are no whole number of blocks of {}",
                                           source.inputs, layout.block_size));
  }
  EVENER_ASSERT(source.bytes.size() == source.num_experts * source.outputs *
                                           (source.inputs / layout.block_size) *
                                           layout.block_bytes);
  if (use == WeightUse::linear) return pack_linear(source, pool, kernels, place);
  EVENER_ASSERT(source.num_experts == 1);
  if (quant::find_format(source.dtype) == nullptr) {
    return unsupported(source, fmt::format("type {} cannot be decoded", layout.name));
  }
  return std::make_unique<EmbeddingWeight>(source);
}

}  // namespace evener::device::cpu
