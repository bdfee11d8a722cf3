#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/device.h"

namespace evener::model {

// Larger than any real size by far; small enough that products of three sizes fit 64 bits.
inline constexpr size_t kWidthMax = size_t{1} << 20;

// Every row operation works on groups of this many channels.
inline constexpr size_t kWidthUnit = 4;

// Rotary positions. Source: reference/models/llama.md.
struct RopeConfig {
  size_t dim = 0;  // R, rotated channels of a head
  double base = 10000;
  enum class Scaling { none, linear, yarn } scaling = Scaling::none;
  double factor = 1;            // s
  double attn_factor = 1;       // on the magnitude of sine and cosine
  double original_context = 0;  // L, yarn only
  std::vector<float> divisors;  // [R / 2] of the angles (llama-3), or empty
  device::RopePairing pairing = device::RopePairing::halves;
};

// How files hold a delta net's maps of its input. Loading sorts their rows into ours.
enum class DeltaNetMaps {
  apart,        // attn_qkv, attn_gate, ssm_beta, ssm_alpha
  joined_ba,    // attn_qkv, attn_gate, ssm_ba: for each key head its betas, then its alphas
  joined_heads  // ssm_in: for each key head q, k, its values, its gates; ssm_ba
};

// Gated delta net layers. num_value_heads = 0 in models without them.
struct DeltaNetConfig {
  size_t num_key_heads = 0;    // G
  size_t num_value_heads = 0;  // V
  size_t head_dim = 0;         // S
  size_t conv_taps = 0;        // C
  device::HeadMapping mapping = device::HeadMapping::grouped;
  DeltaNetMaps maps = DeltaNetMaps::apart;
  size_t conv_channels() const { return (2 * num_key_heads + num_value_heads) * head_dim; }
};

// Mixtures of experts, in every layer or in none. num_experts = 0 in models without them.
struct MixtureConfig {
  size_t num_experts = 0;            // X, wherever they are
  size_t first_expert = 0;           // that this rank has
  size_t num_experts_per_token = 0;  // K
  size_t intermediate_size = 0;      // of one expert
  size_t shared_size = 0;            // intermediate size of the shared expert; 0: there is none
  bool gate_up_joined = false;       // the file holds both in one tensor, gate's rows first
};

// The sizes of a model, read from its file and checked. Names as in style/ANCHORS 2.4.
struct Config {
  std::string family;
  size_t num_layers = 0;      // of the trunk
  size_t num_mtp_layers = 0;  // present in the file behind the trunk
  size_t hidden_size = 0;
  size_t intermediate_size = 0;  // of a dense MLP
  size_t num_heads = 0;
  size_t num_kv_heads = 0;
  size_t head_dim = 0;
  size_t vocab_size = 0;
  size_t context_length = 0;
  float norm_eps = 0;
  RopeConfig rope;
  DeltaNetConfig delta_net;
  MixtureConfig mixture;
  std::vector<bool> recurrent;  // [num_layers]; layer n is a gated delta net, else attention

  size_t num_recurrent_layers() const;
  size_t num_attention_layers() const { return num_layers - num_recurrent_layers(); }
};

// R / 2 factors that turn a position into angles, and the magnitude of sine and cosine.
struct RopeFrequencies {
  std::vector<double> inverse_frequency;
  float magnitude = 1;
};
RopeFrequencies rope_frequencies(const RopeConfig& config);

}  // namespace evener::model
