#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "device/vulkan/gpu.h"
#include "device/vulkan/steps.h"

namespace evener::device::vulkan {

// A ring of host memory through which large things go to the card: while it copies one piece the
// host fills the next.
class Staging {
 public:
  static constexpr size_t kPieceBytes = size_t{8} << 20;

  explicit Staging(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // kPieceBytes that the card no longer reads. Errors: out_of_memory; as Steps::status().
  Result<SharedPiece> next(Steps& steps);

  // Hands over the copies from the piece that next() gave last.
  void send(Steps& steps);

 private:
  static constexpr size_t kNumPieces = 4;

  std::shared_ptr<Gpu> gpu_;
  GpuMemory memory_;
  std::array<uint64_t, kNumPieces> ends_{};  // number of the step that copies from each
  size_t piece_ = 0;
};

}  // namespace evener::device::vulkan
