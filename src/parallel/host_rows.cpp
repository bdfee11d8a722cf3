#include "parallel/host_rows.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"

namespace evener::parallel {
namespace {

// In floats; a sum stays in the first-level cache while term after term is added.
constexpr size_t kSumBlock = 1024;

void add_block(const float* __restrict x, float* __restrict sum, size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] += x[i];
}

void add_two(const float* __restrict a, const float* __restrict b, float* __restrict sum,
             size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

}  // namespace

HostRows::HostRows(device::Device& device, const device::Tensor& x, Use use,
                   std::vector<float>& room)
    : device_(device), x_(x), use_(use), data_(nullptr), stride_(x.rows > 1 ? x.stride : x.cols) {
  if (size() == 0) {  // a rank may have no part of some rows
    static float nothing;
    data_ = &nothing;
    stride_ = x.cols;
    return;
  }
  data_ = device.host_data(x);
  if (data_ != nullptr) return;
  room.resize(size());
  room_ = &room;
  data_ = room.data();
  stride_ = x.cols;
  if (use != Use::overwrite) device.read(x, room);
}

void HostRows::finish() {
  EVENER_ASSERT(use_ != Use::read);
  if (room_ != nullptr) device_.write(*room_, x_);
}

void HostRows::copy_to(size_t begin, std::span<float> to) const {
  each_piece(begin, to.size(), [&](const float* values, size_t place, size_t count) {
    std::copy_n(values, count, to.data() + place);
  });
}

void HostRows::copy_from(size_t begin, std::span<const float> from) const {
  each_piece(begin, from.size(), [&](float* values, size_t place, size_t count) {
    std::copy_n(from.data() + place, count, values);
  });
}

uint64_t HostRows::hash() const {
  uint64_t hash = x_.cols;
  each_row([&](size_t, std::span<const float> values) {
    hash = XXH3_64bits_withSeed(values.data(), values.size_bytes(), hash);
  });
  return hash;
}

void sum_in_order(std::span<const float* const> x, size_t begin, size_t count, float* y) {
  EVENER_ASSERT(x.size() >= 2);
  std::array<float, kSumBlock> sum;  // of its own, since y may be one of x
  for (size_t at = 0; at < count; at += kSumBlock) {
    const size_t n = std::min(kSumBlock, count - at);
    add_two(x[0] + begin + at, x[1] + begin + at, sum.data(), n);
    for (const float* term : x.subspan(2)) add_block(term + begin + at, sum.data(), n);
    std::memcpy(y + at, sum.data(), n * sizeof(float));
  }
}

}  // namespace evener::parallel
