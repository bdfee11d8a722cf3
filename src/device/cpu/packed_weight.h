#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/thread_pool.h"
#include "device/cpu/kernels/linear_kernels.h"
#include "device/cpu/memory.h"
#include "device/weight.h"

namespace evener::device::cpu {

// Null if the table has no kernels for this type.
const FormatKernels* find_kernels(const LinearKernels& kernels, DType dtype);

// A weight in the layout of the CPU's linear kernels: `lanes` neighbouring outputs form a group
// (the last one is filled up with zeros), in which the lanes lie side by side for every few inputs.
// Holds as many bits per weight as the file does, give or take 4 %. See kernels/q4_k.inl and its
// neighbours. The matrices of a stack follow each other, each beginning with a group of its own.
class PackedWeight final : public Weight {
 public:
  PackedWeight(const WeightSource& source, const FormatKernels& kernels, size_t lanes,
               Memory memory);

  size_t size_bytes() const override { return memory_.size_bytes(); }
  const FormatKernels& kernels() const { return *kernels_; }
  size_t num_groups() const { return num_groups_; }  // of one matrix
  size_t group_bytes() const { return group_bytes_; }
  // Group 0 of an expert's matrix, or of the only one.
  const std::byte* groups(size_t expert = 0) const {
    return memory_.data() + expert * num_groups_ * group_bytes_;
  }

 private:
  const FormatKernels* kernels_;
  size_t num_groups_;
  size_t group_bytes_;
  Memory memory_;
};

// A weight whose rows are looked up: the file's own blocks, which must stay mapped.
class EmbeddingWeight final : public Weight {
 public:
  explicit EmbeddingWeight(const WeightSource& source);

  size_t size_bytes() const override { return 0; }
  std::span<const std::byte> row(size_t index) const;

 private:
  std::span<const std::byte> bytes_;
};

// Packs `source` for `use` on all threads of the pool. One region; call it from the pool's owner.
// Errors: unsupported (dtype, or inputs that are no whole number of blocks), out_of_memory.
Result<std::unique_ptr<Weight>> pack_weight(const WeightSource& source, WeightUse use,
                                            ThreadPool& pool, const LinearKernels& kernels,
                                            MemoryPlace place = {});

}  // namespace evener::device::cpu
