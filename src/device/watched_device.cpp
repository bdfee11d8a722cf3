#include "device/watched_device.h"

#include <utility>

#include "device/forwarding_device.h"

namespace evener::device {
namespace {

class WatchedDevice final : public ForwardingDevice {
 public:
  WatchedDevice(std::shared_ptr<Device> device, DeviceWatch watch)
      : ForwardingDevice(std::move(device)), watch_(std::move(watch)) {
    if (watch_.times && inner().measure(watch_.times)) watch_.times = nullptr;
    if (watch_.before_call) inner().while_waiting(watch_.before_call);
  }
  ~WatchedDevice() override {
    if (watch_.before_call) inner().while_waiting({});
  }
  WatchedDevice(const WatchedDevice&) = delete;
  WatchedDevice& operator=(const WatchedDevice&) = delete;

  void write(std::span<const float> values, const Tensor& y) override {
    const Call call(watch_, Work::copies);
    inner().write(values, y);
  }
  void read(const Tensor& x, std::span<float> values) override {
    const Call call(watch_, Work::copies);
    inner().read(x, values);
  }
  void arg_max(const Tensor& x, std::span<int32_t> best) override {
    const Call call(watch_, Work::sampling);
    inner().arg_max(x, best);
  }
  float* host_data(const Tensor& x) override {
    const Call call(watch_, Work::copies);
    return inner().host_data(x);
  }
  void embedding(const Weight& weight, std::span<const int32_t> ids, const Tensor& y) override {
    const Call call(watch_, Work::embedding);
    inner().embedding(weight, ids, y);
  }
  void linear(const Tensor& x, std::span<const LinearPart> parts) override {
    const Call call(watch_, Work::dense);
    inner().linear(x, parts);
  }
  void rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) override {
    const Call call(watch_, Work::elementwise);
    inner().rms_norm(x, gain, epsilon, y);
  }
  void gated_rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& gate,
                      const Tensor& y) override {
    const Call call(watch_, Work::elementwise);
    inner().gated_rms_norm(x, gain, epsilon, gate, y);
  }
  void rope_angles(std::span<const int32_t> positions, std::span<const double> inverse_frequency,
                   float magnitude, const Tensor& angles) override {
    const Call call(watch_, Work::attention);
    inner().rope_angles(positions, inverse_frequency, magnitude, angles);
  }
  void rope(const Tensor& x, const Tensor& angles, RopePairing pairing) override {
    const Call call(watch_, Work::attention);
    inner().rope(x, angles, pairing);
  }
  void store_kv(KvCache& cache, size_t layer, const Batch& batch, const Tensor& k,
                const Tensor& v) override {
    const Call call(watch_, Work::attention);
    inner().store_kv(cache, layer, batch, k, v);
  }
  void attention(const KvCache& cache, size_t layer, const Batch& batch, const Tensor& q,
                 float scale, const Tensor& y) override {
    const Call call(watch_, Work::attention);
    inner().attention(cache, layer, batch, q, scale, y);
  }
  void causal_conv_silu(StateCache& cache, size_t layer, const Batch& batch, const Tensor& x,
                        const Tensor& taps, const Tensor& y) override {
    const Call call(watch_, Work::recurrent);
    inner().causal_conv_silu(cache, layer, batch, x, taps, y);
  }
  void gated_delta_net(StateCache& cache, size_t layer, const Batch& batch,
                       const DeltaNetArgs& args, const Tensor& y) override {
    const Call call(watch_, Work::recurrent);
    inner().gated_delta_net(cache, layer, batch, args, y);
  }
  void reset_state(StateCache& cache, int32_t slot) override {
    const Call call(watch_, Work::recurrent);
    inner().reset_state(cache, slot);
  }
  void copy_state(StateCache& cache, int32_t from, int32_t to) override {
    const Call call(watch_, Work::recurrent);
    inner().copy_state(cache, from, to);
  }
  void read_page(const KvCache& cache, int32_t page, std::span<std::byte> bytes) override {
    const Call call(watch_, Work::copies);
    inner().read_page(cache, page, bytes);
  }
  void write_page(KvCache& cache, int32_t page, std::span<const std::byte> bytes) override {
    const Call call(watch_, Work::copies);
    inner().write_page(cache, page, bytes);
  }
  void read_state(const StateCache& cache, int32_t slot, std::span<std::byte> bytes) override {
    const Call call(watch_, Work::copies);
    inner().read_state(cache, slot, bytes);
  }
  void write_state(StateCache& cache, int32_t slot, std::span<const std::byte> bytes) override {
    const Call call(watch_, Work::copies);
    inner().write_state(cache, slot, bytes);
  }
  void route(Routing& routing, size_t layer, const Tensor& logits, const RouteArgs& args) override {
    const Call call(watch_, Work::experts);
    inner().route(routing, layer, logits, args);
  }
  void expert_ffn(Routing& routing, const Tensor& x, const ExpertWeights& weights,
                  const Tensor& y) override {
    const Call call(watch_, Work::experts);
    inner().expert_ffn(routing, x, weights, y);
  }
  void read_choices(const Routing& routing, std::span<int32_t> experts,
                    std::span<float> weights) override {
    const Call call(watch_, Work::copies);
    inner().read_choices(routing, experts, weights);
  }
  void read_expert_uses(const Routing& routing, size_t layer, std::span<uint64_t> uses) override {
    const Call call(watch_, Work::copies);
    inner().read_expert_uses(routing, layer, uses);
  }
  void silu_mul(const Tensor& gate, const Tensor& up, const Tensor& y) override {
    const Call call(watch_, Work::elementwise);
    inner().silu_mul(gate, up, y);
  }
  void sigmoid_mul(const Tensor& x, const Tensor& gate, const Tensor& y) override {
    const Call call(watch_, Work::elementwise);
    inner().sigmoid_mul(x, gate, y);
  }
  void add(const Tensor& x, const Tensor& y) override {
    const Call call(watch_, Work::elementwise);
    inner().add(x, y);
  }
  void gather_rows(const Tensor& x, std::span<const int32_t> rows, const Tensor& y) override {
    const Call call(watch_, Work::elementwise);
    inner().gather_rows(x, rows, y);
  }

 private:
  struct Call {
    Call(const DeviceWatch& watch, Work work) : timer(watch.times.get(), work) {
      if (watch.before_call) watch.before_call();
    }
    WorkTimer timer;
  };

  DeviceWatch watch_;
};

}  // namespace

std::unique_ptr<Device> watch_device(std::shared_ptr<Device> device, DeviceWatch watch) {
  return std::make_unique<WatchedDevice>(std::move(device), std::move(watch));
}

}  // namespace evener::device
