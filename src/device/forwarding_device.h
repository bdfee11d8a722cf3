#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "device/device.h"

namespace evener::device {

// Hands every call on to another device: the base of what does something more with some of them.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  const DeviceInfo& info() const override { return device_->info(); }
  Status bind_thread() override { return device_->bind_thread(); }
  Status status() const override { return device_->status(); }
  void while_waiting(std::function<void()> sign) override {
    device_->while_waiting(std::move(sign));
  }
  bool measure(std::shared_ptr<WorkTimes> times) override {
    return device_->measure(std::move(times));
  }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes) override {
    return device_->allocate(size_bytes);
  }
  Result<std::unique_ptr<Weight>> upload(const WeightSource& source, WeightUse use) override {
    return device_->upload(source, use);
  }
  Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) override {
    return device_->create_kv_cache(shape);
  }
  Result<std::unique_ptr<StateCache>> create_state_cache(const StateCacheShape& shape) override {
    return device_->create_state_cache(shape);
  }
  Result<std::unique_ptr<Routing>> create_routing(const RoutingShape& shape) override {
    return device_->create_routing(shape);
  }
  void write(std::span<const float> values, const Tensor& y) override { device_->write(values, y); }
  void read(const Tensor& x, std::span<float> values) override { device_->read(x, values); }
  void arg_max(const Tensor& x, std::span<int32_t> best) override { device_->arg_max(x, best); }
  float* host_data(const Tensor& x) override { return device_->host_data(x); }
  void embedding(const Weight& weight, std::span<const int32_t> ids, const Tensor& y) override {
    device_->embedding(weight, ids, y);
  }
  void linear(const Tensor& x, std::span<const LinearPart> parts) override {
    device_->linear(x, parts);
  }
  void rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) override {
    device_->rms_norm(x, gain, epsilon, y);
  }
  void gated_rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& gate,
                      const Tensor& y) override {
    device_->gated_rms_norm(x, gain, epsilon, gate, y);
  }
  void rope_angles(std::span<const int32_t> positions, std::span<const double> inverse_frequency,
                   float magnitude, const Tensor& angles) override {
    device_->rope_angles(positions, inverse_frequency, magnitude, angles);
  }
  void rope(const Tensor& x, const Tensor& angles, RopePairing pairing) override {
    device_->rope(x, angles, pairing);
  }
  void store_kv(KvCache& cache, size_t layer, const Batch& batch, const Tensor& k,
                const Tensor& v) override {
    device_->store_kv(cache, layer, batch, k, v);
  }
  void attention(const KvCache& cache, size_t layer, const Batch& batch, const Tensor& q,
                 float scale, const Tensor& y) override {
    device_->attention(cache, layer, batch, q, scale, y);
  }
  void causal_conv_silu(StateCache& cache, size_t layer, const Batch& batch, const Tensor& x,
                        const Tensor& taps, const Tensor& y) override {
    device_->causal_conv_silu(cache, layer, batch, x, taps, y);
  }
  void gated_delta_net(StateCache& cache, size_t layer, const Batch& batch,
                       const DeltaNetArgs& args, const Tensor& y) override {
    device_->gated_delta_net(cache, layer, batch, args, y);
  }
  void reset_state(StateCache& cache, int32_t slot) override { device_->reset_state(cache, slot); }
  void copy_state(StateCache& cache, int32_t from, int32_t to) override {
    device_->copy_state(cache, from, to);
  }
  void read_page(const KvCache& cache, int32_t page, std::span<std::byte> bytes) override {
    device_->read_page(cache, page, bytes);
  }
  void write_page(KvCache& cache, int32_t page, std::span<const std::byte> bytes) override {
    device_->write_page(cache, page, bytes);
  }
  void read_state(const StateCache& cache, int32_t slot, std::span<std::byte> bytes) override {
    device_->read_state(cache, slot, bytes);
  }
  void write_state(StateCache& cache, int32_t slot, std::span<const std::byte> bytes) override {
    device_->write_state(cache, slot, bytes);
  }
  void route(Routing& routing, size_t layer, const Tensor& logits, const RouteArgs& args) override {
    device_->route(routing, layer, logits, args);
  }
  void expert_ffn(Routing& routing, const Tensor& x, const ExpertWeights& weights,
                  const Tensor& y) override {
    device_->expert_ffn(routing, x, weights, y);
  }
  void read_choices(const Routing& routing, std::span<int32_t> experts,
                    std::span<float> weights) override {
    device_->read_choices(routing, experts, weights);
  }
  void read_expert_uses(const Routing& routing, size_t layer, std::span<uint64_t> uses) override {
    device_->read_expert_uses(routing, layer, uses);
  }
  void reset_expert_uses(Routing& routing) override { device_->reset_expert_uses(routing); }
  void silu_mul(const Tensor& gate, const Tensor& up, const Tensor& y) override {
    device_->silu_mul(gate, up, y);
  }
  void sigmoid_mul(const Tensor& x, const Tensor& gate, const Tensor& y) override {
    device_->sigmoid_mul(x, gate, y);
  }
  void add(const Tensor& x, const Tensor& y) override { device_->add(x, y); }
  void gather_rows(const Tensor& x, std::span<const int32_t> rows, const Tensor& y) override {
    device_->gather_rows(x, rows, y);
  }

 protected:
  Device& inner() const { return *device_; }

 private:
  std::shared_ptr<Device> device_;
};

}  // namespace evener::device
