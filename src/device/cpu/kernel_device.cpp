#include "device/cpu/kernel_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

#include "device/cpu/cpu_buffer.h"
#include "device/cpu/cpu_kv_cache.h"
#include "device/cpu/cpu_state_cache.h"

namespace evener::device::cpu {
namespace {

// A piece of work below this many simple float operations is done before a second thread has come.
constexpr size_t kPieceCost = 16 * 1024;

Error unsupported(std::string doing, std::string where, std::string why, std::string remedy) {
  return Error{.code = Code::unsupported,
               .doing = std::move(doing),
               .where = std::move(where),
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

// The product, or the largest size_t, which no allocation satisfies.
size_t product(std::initializer_list<size_t> factors) {
  size_t result = 1;
  for (const size_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return std::numeric_limits<size_t>::max();
  }
  return result;
}

}  // namespace

KernelDevice::KernelDevice(DeviceInfo info, const OpsKernels& kernels,
                           const LinearKernels& linear_kernels, std::unique_ptr<ThreadPool> pool,
                           MemoryPlace place)
    : info_(std::move(info)),
      kernels_(kernels),
      linear_kernels_(linear_kernels),
      pool_(std::move(pool)),
      place_(place),
      scratch_(pool_->num_threads()) {}

Result<std::unique_ptr<Buffer>> KernelDevice::allocate(size_t size_bytes) {
  ASSIGN_OR_RETURN(Memory memory, Memory::allocate(size_bytes, info_.name, place_));
  return std::make_unique<CpuBuffer>(std::move(memory));
}

Result<std::unique_ptr<KvCache>> KernelDevice::create_kv_cache(const KvCacheShape& shape) {
  RETURN_IF_ERROR(shape.check());
  EVENER_ASSERT(shape.page_size % kTile == 0);
  EVENER_ASSERT(shape.head_dim > 0);
  const KvTypeInfo& type = device::info(shape.type);
  const size_t per_position = product(
      {2, CpuKvCache::padded(shape) / type.block_size, shape.num_kv_heads, type.block_bytes});
  const size_t size = product({shape.num_layers, shape.num_pages, shape.page_size, per_position});
  ASSIGN_OR_RETURN(Memory memory, Memory::allocate(size, info_.name + ", KV cache", place_));
  RETURN_IF_ERROR(reserve_scratch(attention_scratch_floats(shape)));
  const size_t span_bytes = span_states_floats(shape, pool_->num_threads()) * sizeof(float);
  RETURN_IF_ERROR(grow(span_states_, span_bytes));
  return std::make_unique<CpuKvCache>(shape, std::move(memory));
}

Result<std::unique_ptr<StateCache>> KernelDevice::create_state_cache(const StateCacheShape& shape) {
  if (shape.conv_taps == 0 || shape.conv_taps > kConvTapsMax) {
    return unsupported("create a state cache", info_.name,
                       fmt::format("a convolution of {} taps", shape.conv_taps),
                       fmt::format("1 to {} are supported", kConvTapsMax));
  }
  const size_t conv = product({shape.conv_taps, shape.conv_channels});
  const size_t state =
      product({shape.num_value_heads, shape.head_dim, CpuStateCache::padded(shape)});
  if (product({shape.num_layers, shape.num_slots, std::max(conv, state), 8}) ==
      std::numeric_limits<size_t>::max()) {
    return Memory::allocate(std::numeric_limits<size_t>::max(), info_.name + ", state cache")
        .error();
  }
  const size_t size = shape.num_slots * CpuStateCache::slot_floats(shape) * sizeof(float);
  ASSIGN_OR_RETURN(Memory memory, Memory::allocate(size, info_.name + ", state cache", place_));
  RETURN_IF_ERROR(reserve_scratch(recurrent_scratch_floats(shape)));
  return std::make_unique<CpuStateCache>(shape, std::move(memory));
}

void KernelDevice::write(std::span<const float> values, const Tensor& y) {
  EVENER_ASSERT(values.size() == y.rows * y.cols);
  float* const to = data_of(y);
  for (size_t r = 0; r < y.rows && y.cols > 0; ++r) {
    std::memcpy(to + r * y.stride, values.data() + r * y.cols, y.cols * sizeof(float));
  }
}

void KernelDevice::read(const Tensor& x, std::span<float> values) {
  EVENER_ASSERT(values.size() == x.rows * x.cols);
  const float* const from = data_of(x);
  for (size_t r = 0; r < x.rows && x.cols > 0; ++r) {
    std::memcpy(values.data() + r * x.cols, from + r * x.stride, x.cols * sizeof(float));
  }
}

float* KernelDevice::host_data(const Tensor& x) { return data_of(x); }

void KernelDevice::split(size_t count, size_t cost,
                         FunctionRef<void(size_t, size_t, size_t)> body) {
  const size_t fair = count / (4 * pool_->num_threads());  // so that nobody waits long at the end
  const size_t grain = std::max({kPieceCost / std::max<size_t>(cost, 1), fair, size_t{1}});
  pool_->parallel_for(count, grain, body);
}

// Rows are cut so that one wide row, as in decoding, keeps all threads busy.
void KernelDevice::split_elements(size_t rows, size_t cols, size_t cost, Piece body) {
  constexpr size_t kCols = 1024;
  if (cols == 0) return;
  const size_t pieces = (cols + kCols - 1) / kCols;
  const size_t width = std::min(kCols, cols);
  split(rows * pieces, width * cost, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      const size_t column = i % pieces * kCols;
      body(i / pieces, column, std::min(column + kCols, cols));
    }
  });
}

Status KernelDevice::grow(Memory& memory, size_t size_bytes) {
  if (memory.size_bytes() >= size_bytes) return {};
  ASSIGN_OR_RETURN(memory, Memory::allocate(size_bytes, info_.name + ", scratch", place_));
  return {};
}

Status KernelDevice::reserve_scratch(size_t floats) {
  for (Memory& memory : scratch_) RETURN_IF_ERROR(grow(memory, floats * sizeof(float)));
  return {};
}

float* KernelDevice::scratch(size_t thread, size_t floats) const {
  EVENER_ASSERT(scratch_[thread].size_bytes() >= floats * sizeof(float));
  return scratch_[thread].floats();
}

}  // namespace evener::device::cpu
