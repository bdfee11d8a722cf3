#include "model/pass.h"

#include <cmath>
#include <vector>

namespace evener::model {
namespace {

// Ids within the range, counted from its begin; -1 for others.
std::vector<int32_t> ids_within(const Range& range, std::span<const int32_t> ids) {
  std::vector<int32_t> within(ids.size(), -1);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<size_t>(ids[i]);
    if (id >= range.begin && id < range.end()) within[i] = static_cast<int32_t>(id - range.begin);
  }
  return within;
}

}  // namespace

// Each token's row is on one rank and zeros on the others, so that the sum is the row itself.
device::Tensor Pass::embed(const device::Weight& weight, const Range& vocabulary) {
  const device::Tensor y = make(num_rows(), weight.inputs());
  if (comms_.shards->size() == 1) {
    device_.embedding(weight, input_.tokens, y);
  } else {
    device_.embedding(weight, ids_within(vocabulary, input_.tokens), y);
    comms_.shards->all_reduce(device_, y);
  }
  return y;
}

device::Tensor Pass::receive_rows(size_t width) {
  const device::Tensor x = make(num_rows(), width);
  comms_.stages->receive(device_, comms_.stages->rank() - 1, x);
  return x;
}

void Pass::send_rows(const device::Tensor& x) {
  comms_.stages->send(device_, comms_.stages->rank() + 1, x);
}

device::Tensor Pass::linear(const device::Tensor& x, const device::Weight& weight,
                            const device::Tensor& bias) {
  return linear<1>(x, {{{&weight, bias}}})[0];
}

device::Tensor Pass::rms_norm(const device::Tensor& x, const device::Tensor& gain, float epsilon) {
  const device::Tensor y = make(x.rows, x.cols);
  device_.rms_norm(x, gain, epsilon, y);
  return y;
}

void Pass::prepare_rope(const RopeConfig& config, const RopeFrequencies& frequencies) {
  angles_ = make(num_rows(), config.dim);
  pairing_ = config.pairing;
  device_.rope_angles(input_.positions, frequencies.inverse_frequency, frequencies.magnitude,
                      angles_);
}

void Pass::rope(const device::Tensor& heads) { device_.rope(heads, angles_, pairing_); }

device::Tensor Pass::attention(size_t layer, const device::Tensor& q, const device::Tensor& k,
                               const device::Tensor& v) {
  device::KvCache& cache = *memory_.kv;
  device_.store_kv(cache, layer, input_.batch, k, v);
  const device::Tensor y = make(q.rows, q.cols);
  const float scale = 1 / std::sqrt(static_cast<float>(cache.shape().head_dim));
  device_.attention(cache, layer, input_.batch, q, scale, y);
  return y;
}

device::Tensor Pass::causal_conv_silu(size_t layer, const device::Tensor& x,
                                      const device::Tensor& taps) {
  const device::Tensor y = make(x.rows, x.cols);
  device_.causal_conv_silu(*memory_.state, layer, input_.batch, x, taps, y);
  return y;
}

device::Tensor Pass::gated_delta_net(size_t layer, const device::DeltaNetArgs& args) {
  const device::StateCacheShape& shape = memory_.state->shape();
  const device::Tensor y = make(num_rows(), shape.num_value_heads * shape.head_dim);
  device_.gated_delta_net(*memory_.state, layer, input_.batch, args, y);
  return y;
}

device::Tensor Pass::experts(size_t layer, const device::Tensor& h, const device::Tensor& logits,
                             const device::ExpertWeights& weights) {
  device_.route(*memory_.routing, layer, logits, {});
  const device::Tensor y = make(h.rows, h.cols);
  device_.expert_ffn(*memory_.routing, h, weights, y);
  return y;
}

device::Tensor Pass::gated_rms_norm(const device::Tensor& x, const device::Tensor& gain,
                                    float epsilon, const device::Tensor& gate) {
  const device::Tensor y = make(x.rows, x.cols);
  device_.gated_rms_norm(x, gain, epsilon, gate, y);
  return y;
}

device::Tensor Pass::silu_mul(const device::Tensor& gate, const device::Tensor& up) {
  const device::Tensor y = make(up.rows, up.cols);
  device_.silu_mul(gate, up, y);
  return y;
}

device::Tensor Pass::sigmoid_mul(const device::Tensor& x, const device::Tensor& gate) {
  const device::Tensor y = make(x.rows, x.cols);
  device_.sigmoid_mul(x, gate, y);
  return y;
}

void Pass::add_reduced(const device::Tensor& x, const device::Tensor& part) {
  comms_.shards->all_reduce(device_, part);
  device_.add(part, x);
}

void Pass::compare(const device::Tensor& x) { comms_.shards->verify_same(device_, x); }

device::Tensor Pass::gather_columns(const device::Tensor& part, size_t cols) {
  constexpr size_t kRoot = 0;
  if (comms_.shards->size() == 1) return part;
  const bool is_root = comms_.shards->rank() == kRoot;
  const device::Tensor whole = is_root ? make(part.rows, cols) : device::Tensor();
  if (part.rows > 0) comms_.shards->gather(device_, kRoot, part, whole);
  return whole;
}

device::Tensor Pass::logit_rows(const device::Tensor& x) {
  const device::Tensor y = make(input_.logit_rows.size(), x.cols);
  device_.gather_rows(x, input_.logit_rows, y);
  return y;
}

}  // namespace evener::model
