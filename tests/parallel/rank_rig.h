#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "parallel/thread_comm.h"

namespace evener::parallel {

// How a device lets the host at its memory.
enum class Access { in_place, by_copies };

// The device of a rank and tensors on it, which live as long as the rig.
class RankRig {
 public:
  explicit RankRig(Access access = Access::in_place);

  device::Device& device() { return *device_; }

  // Rows lie cols + gap apart; what is between them is kGap.
  device::Tensor put(size_t rows, size_t cols, std::span<const float> values, size_t gap = 0);
  device::Tensor empty(size_t rows, size_t cols, size_t gap = 0);
  std::vector<float> values(const device::Tensor& x);

  // What lies between the rows is still there.
  bool gaps_are_whole(const device::Tensor& x);

 private:
  static constexpr float kGap = -77;

  std::unique_ptr<device::Device> device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
};

// Calls body(comms of the rank) on a thread for each rank; returns when all have ended. Each rank's
// comms end with its thread only if the body lets go of them.
void run_ranks(std::vector<RankComms>& ranks, const std::function<void(RankComms&)>& body);

// Of very different sizes, so that another order of additions gives other bits; the same for the
// same seed.
std::vector<float> random_values(size_t count, size_t seed);

// The sum in rank order.
std::vector<float> sum_of(std::span<const std::vector<float>> terms);

// Bit by bit.
bool same_bits(std::span<const float> a, std::span<const float> b);

}  // namespace evener::parallel
