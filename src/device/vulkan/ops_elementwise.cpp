// Norms, activations, sums, gates, rotation: kernels of one thread a value or one workgroup a row.
#include <cmath>
#include <cstring>
#include <vector>

#include "device/vulkan/card_device.h"

namespace evener::device::vulkan {
namespace {

constexpr uint32_t kElementThreads = 64;

struct NormArgs {
  uint64_t x, gain, gate, y;
  uint32_t x_stride, gate_stride, y_stride, rows, cols;
  float epsilon;
};

struct ElementwiseArgs {
  uint64_t a, b, y, list;
  uint32_t a_stride, b_stride, y_stride, rows, cols;
};

struct RopeArgs {
  uint64_t x, angles;
  uint32_t x_stride, angles_stride, num_heads, heads_a_row, pairs;
};

}  // namespace

void CardDevice::normalize(const Tensor& x, const Tensor& gain, float epsilon, const Tensor* gate,
                           const Tensor& y) {
  EVENER_ASSERT(x.rows == y.rows);
  EVENER_ASSERT(x.cols == y.cols);
  EVENER_ASSERT(gain.rows == 1);
  EVENER_ASSERT(gain.cols == x.cols);
  if (x.rows == 0) return;
  steps_->begin();
  NormArgs args{.x = address_of(x),
                .gain = address_of(gain),
                .gate = 0,
                .y = address_of(y),
                .x_stride = uint32_t(x.stride),
                .gate_stride = 0,
                .y_stride = uint32_t(y.stride),
                .rows = uint32_t(x.rows),
                .cols = uint32_t(x.cols),
                .epsilon = epsilon};
  Touched gate_read;
  if (gate != nullptr) {
    EVENER_ASSERT(gate->rows == x.rows);
    EVENER_ASSERT(gate->cols == x.cols);
    args.gate = address_of(*gate);
    args.gate_stride = uint32_t(gate->stride);
    gate_read = touched(*gate);
  }
  // By the width alone, so that a row is summed in the same order wherever it stands.
  const uint32_t threads = x.cols <= 256 ? 64 : 256;
  const RowGroups groups = spread_rows(x.rows);
  call({.kernel = "rms_norm", .constants = {threads, gate != nullptr}, .num_constants = 2},
       {1, groups.y, groups.z}, args, {touched(x), touched(gain), gate_read}, {touched(y)},
       Work::elementwise);
}

void CardDevice::rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) {
  normalize(x, gain, epsilon, nullptr, y);
}

void CardDevice::gated_rms_norm(const Tensor& x, const Tensor& gain, float epsilon,
                                const Tensor& gate, const Tensor& y) {
  normalize(x, gain, epsilon, &gate, y);
}

void CardDevice::elementwise(Elementwise operation, const FloatRows& a, const FloatRows& b,
                             const FloatRows& y, Work work, uint64_t list) {
  const ElementwiseArgs args{.a = a.address,
                             .b = b.address,
                             .y = y.address,
                             .list = list,
                             .a_stride = uint32_t(a.stride),
                             .b_stride = uint32_t(b.stride),
                             .y_stride = uint32_t(y.stride),
                             .rows = uint32_t(y.num_rows),
                             .cols = uint32_t(y.cols)};
  const RowGroups groups = spread_rows(y.num_rows);
  call({.kernel = "elementwise",
        .constants = {kElementThreads, uint32_t(operation)},
        .num_constants = 2},
       {groups_of(y.cols, kElementThreads), groups.y, groups.z}, args, {a.read, b.read}, {y.read},
       work);
}

void CardDevice::elementwise(Elementwise operation, const Tensor& a, const Tensor& b,
                             const Tensor& y) {
  EVENER_ASSERT(a.rows == y.rows);
  EVENER_ASSERT(a.cols == y.cols);
  EVENER_ASSERT(b.rows == a.rows);
  EVENER_ASSERT(b.cols == (operation == Elementwise::sigmoid_rows ? 1 : a.cols));
  if (a.rows == 0 || a.cols == 0) return;
  steps_->begin();
  elementwise(operation, rows_of(a), rows_of(b), rows_of(y), Work::elementwise);
}

void CardDevice::silu_mul(const Tensor& gate, const Tensor& up, const Tensor& y) {
  elementwise(Elementwise::silu_mul, gate, up, y);
}

void CardDevice::sigmoid_mul(const Tensor& x, const Tensor& gate, const Tensor& y) {
  const bool is_by_row = gate.cols == 1 && x.cols != 1;
  elementwise(is_by_row ? Elementwise::sigmoid_rows : Elementwise::sigmoid_mul, x, gate, y);
}

void CardDevice::add(const Tensor& x, const Tensor& y) { elementwise(Elementwise::add, x, y, y); }

void CardDevice::gather_rows(const Tensor& x, std::span<const int32_t> rows, const Tensor& y) {
  EVENER_ASSERT(y.rows == rows.size());
  EVENER_ASSERT(y.cols == x.cols);
  for (const int32_t row : rows) {
    EVENER_ASSERT(row >= 0);
    EVENER_ASSERT(size_t(row) < x.rows);
  }
  if (rows.empty()) return;
  steps_->begin();
  const SharedPiece list = steps_->bring(rows.size_bytes());
  if (list.host == nullptr) return;
  std::memcpy(list.host, rows.data(), rows.size_bytes());
  elementwise(Elementwise::gather, rows_of(x), {}, rows_of(y), Work::elementwise, list.address);
}

// On the host, in f64: a few thousand of them a step.
void CardDevice::rope_angles(std::span<const int32_t> positions,
                             std::span<const double> inverse_frequency, float magnitude,
                             const Tensor& angles) {
  const size_t n = inverse_frequency.size();
  EVENER_ASSERT(angles.rows == positions.size());
  EVENER_ASSERT(angles.cols == 2 * n);
  std::vector<float> values(positions.size() * 2 * n);
  for (size_t r = 0; r < positions.size(); ++r) {
    float* const row = values.data() + r * 2 * n;
    for (size_t k = 0; k < n; ++k) {
      const double angle = double(positions[r]) * inverse_frequency[k];
      row[k] = float(std::cos(angle) * double(magnitude));
      row[n + k] = float(std::sin(angle) * double(magnitude));
    }
  }
  write(values, angles);
}

void CardDevice::rope(const Tensor& x, const Tensor& angles, RopePairing pairing) {
  if (x.rows == 0) return;
  EVENER_ASSERT(angles.rows > 0);
  EVENER_ASSERT(x.rows % angles.rows == 0);
  EVENER_ASSERT(angles.cols % 2 == 0);
  EVENER_ASSERT(angles.cols <= x.cols);
  steps_->begin();
  const size_t pairs = angles.cols / 2;
  const RopeArgs args{.x = address_of(x),
                      .angles = address_of(angles),
                      .x_stride = uint32_t(x.stride),
                      .angles_stride = uint32_t(angles.stride),
                      .num_heads = uint32_t(x.rows),
                      .heads_a_row = uint32_t(x.rows / angles.rows),
                      .pairs = uint32_t(pairs)};
  const RowGroups groups = spread_rows(x.rows);
  call({.kernel = "rope",
        .constants = {kElementThreads, pairing == RopePairing::halves},
        .num_constants = 2},
       {groups_of(pairs, kElementThreads), groups.y, groups.z}, args, {touched(x), touched(angles)},
       {touched(x)}, Work::attention);
}

}  // namespace evener::device::vulkan
