#pragma once

#include <cstddef>
#include <utility>

#include "device/cpu/memory.h"
#include "device/tensor.h"

namespace evener::device::cpu {

// A buffer of the CPU device is plain memory.
class CpuBuffer final : public Buffer {
 public:
  explicit CpuBuffer(Memory memory) : memory_(std::move(memory)) {}
  size_t size_bytes() const override { return memory_.size_bytes(); }
  float* floats() const { return memory_.floats(); }

 private:
  Memory memory_;
};

// First value of a tensor of the CPU device. Aborts if the tensor does not lie in its buffer; null
// for a tensor without rows or columns.
inline float* data_of(const Tensor& tensor) {
  if (tensor.rows == 0 || tensor.cols == 0) return nullptr;
  EVENER_ASSERT(tensor.buffer != nullptr);
  EVENER_ASSERT(tensor.stride >= tensor.cols || tensor.rows == 1);
  const size_t end = tensor.offset + (tensor.rows - 1) * tensor.stride + tensor.cols;
  EVENER_ASSERT(end * sizeof(float) <= tensor.buffer->size_bytes());
  return static_cast<CpuBuffer*>(tensor.buffer)->floats() + tensor.offset;
}

}  // namespace evener::device::cpu
