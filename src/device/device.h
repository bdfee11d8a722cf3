#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/work_times.h"
#include "device/batch.h"
#include "device/caches.h"
#include "device/experts.h"
#include "device/tensor.h"
#include "device/weight.h"

namespace evener::device {

struct DeviceInfo {
  std::string name;         // "cpu:0", "cpu:0[0-3]": as device_name.h prints it
  std::string description;  // "AMD EPYC, 2 cores, AVX2"
  size_t memory_bytes = 0;  // that this process may use in all; of one node: devices share it
  size_t num_threads = 0;   // that compute
  size_t numa_node = 0;     // that its threads and memory belong to

  // Layout and rounding of what is kept in caches: bytes that read_page() or read_state() gave mean
  // the same, and continue to the same bits, on devices and in programs that say the same here.
  std::string cache_layout;  // "cpu 1, avx2"
};

// One linear map of an input that several maps share (q, k and v; gate and up).
struct LinearPart {
  const Weight* weight = nullptr;
  Tensor bias;  // [1, outputs]; a null buffer means none
  Tensor y;     // [rows, outputs]
};

// Which channels of a head turn together: (2k, 2k + 1), or (k, k + rotary_dim / 2).
enum class RopePairing { neighbours, halves };

// How the keys of G heads serve V value heads: value head j uses key head j div (V / G), or j mod
// G.
enum class HeadMapping { grouped, tiled };

struct DeltaNetArgs {
  Tensor qkv;      // [rows, (2 G + V) S]: q heads, k heads, v heads, after convolution and silu
  Tensor beta;     // [rows, V] logits
  Tensor alpha;    // [rows, V] before time-step bias and softplus
  Tensor a;        // [1, V], negative
  Tensor dt_bias;  // [1, V]
  size_t num_key_heads = 0;  // G; V and S are the state cache's
  HeadMapping mapping = HeadMapping::grouped;
  float norm_eps = 0;  // added to the sum of squares of q and of k
};

// The coarse operations that a model is made of, on the memory of one device.
//
// Batch invariance: every row of a result is computed by one fixed sequence of roundings, whatever
// the number of rows, the slices beside it and the borders of its own chunk. Tests compare for
// equal bits.
//
// All calls come from the thread of the rank that owns the device, in program order; the CPU device
// runs them at once, others may record them and run them before the next read(). Shapes that
// disagree are the caller's bug and abort. y must not overlap an input unless said so.
// Equations: reference/models. Judges: tests/reference.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  // Binds the calling thread, which is a rank's own and starts no others later, to where the device
  // computes. Optional; no other call is needed before. Error: invalid_argument (this process may
  // not run there).
  virtual Status bind_thread() = 0;

  // Ok, or why nothing that was computed since is to be trusted: the device is lost, or did not
  // answer in time. It stays so.
  virtual Status status() const { return {}; }

  // Calls `sign` several times a second while a call waits for what the device computes, on the
  // thread of the call; an empty one: no more. A device that runs calls at once never waits.
  virtual void while_waiting(std::function<void()> /*sign*/) {}

  // Adds the time of each kind of work to `times` from now on, and says true; false: the device
  // runs calls at once, and they are timed from outside.
  virtual bool measure(std::shared_ptr<WorkTimes> /*times*/) { return false; }

  // Zeroed memory. Error: out_of_memory.
  virtual Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes) = 0;

  // Packs a weight. Errors: unsupported (dtype), out_of_memory.
  virtual Result<std::unique_ptr<Weight>> upload(const WeightSource& source, WeightUse use) = 0;

  // Errors: unsupported (dtype or head_dim), out_of_memory.
  virtual Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) = 0;
  virtual Result<std::unique_ptr<StateCache>> create_state_cache(const StateCacheShape& shape) = 0;

  // Error: out_of_memory.
  virtual Result<std::unique_ptr<Routing>> create_routing(const RoutingShape& shape) = 0;

  // Host to device and back; values are row by row without gaps. read() waits for all before it.
  virtual void write(std::span<const float> values, const Tensor& y) = 0;
  virtual void read(const Tensor& x, std::span<float> values) = 0;

  // best[r] = the column of row r's largest finite value, the lowest of equal ones; -1 if none is
  // finite. Waits as read() does.
  virtual void arg_max(const Tensor& x, std::span<int32_t> best) = 0;

  // Where the host may read and write the tensor's first row itself, rows being x.stride floats
  // apart, while no call runs; null if it may not. Waits as read() does.
  virtual float* host_data(const Tensor& x) = 0;

  // y[r] = row ids[r] of an embedding weight, as f32, or zeros for an id of -1. Every other id is
  // below weight.outputs().
  virtual void embedding(const Weight& weight, std::span<const int32_t> ids, const Tensor& y) = 0;

  // For each part: y = x W^T + bias. x [rows, inputs], shared by all parts. Inputs of quantised
  // weights are rounded to 8 bits in blocks as the peer does (Q8_K blocks of 256 for types whose
  // own blocks have 256 weights, Q8_0 blocks of 32 for others); inputs of float weights stay f32.
  virtual void linear(const Tensor& x, std::span<const LinearPart> parts) = 0;

  // y[r,c] = x[r,c] * gain[c] / sqrt(mean over c of x[r,c]^2 + epsilon). gain [1, cols]. y may be
  // x.
  virtual void rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) = 0;

  // y[r,c] = rms_norm(x)[r,c] * silu(gate[r,c]). y may be x.
  virtual void gated_rms_norm(const Tensor& x, const Tensor& gain, float epsilon,
                              const Tensor& gate, const Tensor& y) = 0;

  // angles[r] = (cos, sin) of positions[r] * inverse_frequency[k] for k in [0, n), both times
  // magnitude: [rows, 2 n], cosines first. Products and functions are formed in f64.
  virtual void rope_angles(std::span<const int32_t> positions,
                           std::span<const double> inverse_frequency, float magnitude,
                           const Tensor& angles) = 0;

  // Turns the first 2 n channels of each head; the others stay. x is [rows * heads, head_dim],
  // rows being angles.rows, changed in place; x.stride may exceed head_dim.
  virtual void rope(const Tensor& x, const Tensor& angles, RopePairing pairing) = 0;

  // Writes row r's key and value [rows, kv_heads * head_dim] to its position in the pages of
  // `layer`.
  virtual void store_kv(KvCache& cache, size_t layer, const Batch& batch, const Tensor& k,
                        const Tensor& v) = 0;

  // Causal attention of each row over positions 0 .. its own, which are stored already:
  //     y[r, i] = sum_s softmax_s(scale * q[r, i] . k[s, i div (heads / kv_heads)]) v[s, ..]
  // q, y [rows, heads * head_dim]. Summed over tiles of absolute positions in rising order.
  virtual void attention(const KvCache& cache, size_t layer, const Batch& batch, const Tensor& q,
                         float scale, const Tensor& y) = 0;

  // Depthwise causal convolution over time, then silu:
  //     y[t, c] = silu(sum_{j < C} taps[c, j] x[t - C + 1 + j, c])
  // x, y [rows, channels]; taps [channels, C], oldest first. Rows before the slice come from its
  // slot, which then keeps the last C - 1 rows of x.
  virtual void causal_conv_silu(StateCache& cache, size_t layer, const Batch& batch,
                                const Tensor& x, const Tensor& taps, const Tensor& y) = 0;

  // Gated delta net, the recurrence of reference/models/qwen3next.md token by token on each slice's
  // slot, in f32. y [rows, V S].
  virtual void gated_delta_net(StateCache& cache, size_t layer, const Batch& batch,
                               const DeltaNetArgs& args, const Tensor& y) = 0;

  // Zeroes a slot in all layers: the start of a sequence.
  virtual void reset_state(StateCache& cache, int32_t slot) = 0;

  // Copies a slot in all layers to another: what goes on from one leaves the other as it is.
  virtual void copy_state(StateCache& cache, int32_t from, int32_t to) = 0;

  // The bytes of one page, or of one slot, in all layers: cache.stored_page_bytes() or
  // cache.stored_slot_bytes() of them, in the device's own layout. What was read may be written to
  // any page or slot of a cache with the same shape but for its number of pages or slots, on a
  // device with the same cache_layout. Reading waits as read() does. Written bytes need not come
  // from reading: any give numbers, if wrong ones.
  virtual void read_page(const KvCache& cache, int32_t page, std::span<std::byte> bytes) = 0;
  virtual void write_page(KvCache& cache, int32_t page, std::span<const std::byte> bytes) = 0;
  virtual void read_state(const StateCache& cache, int32_t slot, std::span<std::byte> bytes) = 0;
  virtual void write_state(StateCache& cache, int32_t slot, std::span<const std::byte> bytes) = 0;

  // Chooses the K experts of each row of `logits` [rows, X] and keeps them until the next call:
  //     p = softmax or sigmoid of the row
  //     the experts of the K largest p + bias, falling; of equal ones the lower number first
  //     w = p, divided by max(sum of the chosen p, 2^-14) if they are renormalised, times scale
  // Counts them for `layer`.
  virtual void route(Routing& routing, size_t layer, const Tensor& logits,
                     const RouteArgs& args) = 0;

  // The chosen experts of each row, summed in the order in which they were chosen:
  //     y[r] = sum_k w[r,k] down_e(silu(gate_e(x[r])) * up_e(x[r])),   e = the k-th of row r
  // x, y [rows, hidden], rows being those of the last route(). Experts that are not in `weights`
  // add nothing. An expert's weights are read once for all rows that chose it. Inputs are rounded
  // as linear() does.
  virtual void expert_ffn(Routing& routing, const Tensor& x, const ExpertWeights& weights,
                          const Tensor& y) = 0;

  // The choices of the last route() of `rows` rows: [rows, K] each. Waits as read() does.
  virtual void read_choices(const Routing& routing, std::span<int32_t> experts,
                            std::span<float> weights) = 0;

  // How often each expert of a layer was chosen since the routing was made or its counts were
  // reset: [X]. Waits as read() does.
  virtual void read_expert_uses(const Routing& routing, size_t layer, std::span<uint64_t> uses) = 0;
  virtual void reset_expert_uses(Routing& routing) = 0;

  // y = silu(gate) * up. y may be either.
  virtual void silu_mul(const Tensor& gate, const Tensor& up, const Tensor& y) = 0;

  // y = x * sigmoid(gate). gate has x's shape, or one column: one gate for each row. y may be x.
  virtual void sigmoid_mul(const Tensor& x, const Tensor& gate, const Tensor& y) = 0;

  // y = y + x.
  virtual void add(const Tensor& x, const Tensor& y) = 0;

  // y[i] = x[rows[i]].
  virtual void gather_rows(const Tensor& x, std::span<const int32_t> rows, const Tensor& y) = 0;
};

}  // namespace evener::device
