#pragma once

#include <stddef.h>
#include <stdint.h>

// The arithmetic of all operations but linear, once per instruction set: what an ISA file exports
// and what the rest of this folder may call. Nothing here checks, allocates or knows a thread.
// Every result row is computed by one fixed sequence of roundings whatever the number of rows.
//
// Data that this device lays out itself is padded: `padded` is head_dim rounded up to a multiple of
// kTile, and the floats between head_dim and padded are zero. Callers' tensors have any width.
// C headers only, no inline functions: see ANCHORS 2.7.
namespace evener::device::cpu {

// Positions in a tile of the KV cache, and the grain of padding: a multiple of every ISA's lanes.
constexpr size_t kTile = 16;

// Neighbouring channels of a key or value that share a scale in a cache of type q8_0.
constexpr size_t kKvBlock = 32;

// Positions between two updates of the running maximum of the softmax: four tiles.
constexpr size_t kSoftmaxBlock = 64;

// y = x gain / sqrt(mean x^2 + epsilon), times silu(gate) in the gated form.
struct NormArgs {
  const float* x;
  size_t x_stride;
  const float* gain;  // [cols]
  const float* gate;  // [rows, cols], of the gated form alone
  size_t gate_stride;
  float* y;
  size_t y_stride;
  size_t rows;
  size_t cols;
  float epsilon;
};

// Turns the first 2 `pairs` channels of `heads` heads that share one row of angles, in place.
struct RopeArgs {
  float* x;  // [heads, ..]
  size_t x_stride;
  size_t heads;
  const float* angles;  // `pairs` cosines, then `pairs` sines
  size_t pairs;
};

// One position's key and value of one head on their way into a tile.
struct StoreArgs {
  void* tile;       // as kv_tiles.inl says
  size_t position;  // in the tile
  const float* k;   // [head_dim]
  const float* v;
  size_t head_dim;
  size_t padded;
};

// The running softmax of some query rows: maximum and sum of the weights, weighted sum of values.
struct AttentionState {
  float* max;  // [rows]
  float* sum;  // [rows]
  float* acc;  // [rows, padded]
};

// Query rows of one KV head against the positions [begin, end) of one sequence. The `group` rows of
// a token are neighbours; token t stands at first_position + t and sees positions up to its own.
struct AttentionArgs {
  const float* q;  // [tokens * group, padded], already scaled, and times the cache's unit
  size_t tokens;
  size_t group;
  size_t first_position;
  size_t begin;  // a multiple of kSoftmaxBlock
  size_t end;    // at most first_position + tokens
  size_t padded;

  const void* tiles;     // this head's tiles of page 0
  size_t page_bytes;     // from a page's tiles to the next page's
  const int32_t* pages;  // of the sequence
  size_t page_tiles;     // tiles of a head in a page
  size_t tile_bytes;

  float* scratch;  // attention_scratch_floats(tokens * group, padded)
  AttentionState out;
};

struct ConvArgs {
  const float* x;  // [rows, width]
  size_t x_stride;
  float* history;  // [taps - 1, width]: rows before x; becomes the last taps - 1 rows
  size_t history_stride;
  const float* taps;  // [num_taps, width], oldest first: a scratch copy, transposed
  size_t num_taps;    // at most kConvTapsMax
  float* y;
  size_t y_stride;
  size_t rows;
  size_t width;
};
constexpr size_t kConvTapsMax = 16;

// The gated delta rule of one value head over neighbouring tokens.
struct DeltaNetHeadArgs {
  const float* k;      // [tokens + 1, padded], normalised; the last row is any finite numbers
  const float* q;      // [tokens, padded], normalised and scaled
  const float* decay;  // [tokens], exp(g)
  const float* beta;   // [tokens]
  const float* v;      // [tokens, head_dim]
  size_t v_stride;
  float* y;  // [tokens, head_dim]
  size_t y_stride;
  float* state;  // [head_dim values, padded keys]: transposed
  size_t tokens;
  size_t head_dim;
  size_t padded;
};

// y[i] = sum over k of weights[k] * x[rows[k], i], in rising k; num_rows is not 0.
struct WeightedSumArgs {
  const float* x;
  size_t x_stride;
  const int32_t* rows;
  const float* weights;
  size_t num_rows;
  float* y;
  size_t n;
};

// A cache of one type. The kernel reads a number as number / unit: queries are to be multiplied by
// `unit`, and so is what comes out. A power of two.
struct KvKernels {
  void (*store)(const StoreArgs&);
  void (*attend)(const AttentionArgs&);
  float unit;
};
constexpr float kFp8Unit = 256;

struct OpsKernels {
  const char* isa;
  void (*rms_norm)(const NormArgs&);
  void (*gated_rms_norm)(const NormArgs&);
  void (*rope_neighbours)(const RopeArgs&);
  void (*rope_halves)(const RopeArgs&);
  void (*silu_mul)(const float* gate, const float* up, float* y, size_t n);
  void (*sigmoid_mul)(const float* x, const float* gate, float* y, size_t n);
  void (*add)(const float* x, float* y, size_t n);
  void (*sigmoid)(const float* x, float* y, size_t n);
  void (*softmax)(const float* x, float* y, size_t n);  // n is not 0
  void (*weighted_sum)(const WeightedSumArgs&);

  KvKernels kv_f32;
  KvKernels kv_f16;
  KvKernels kv_q8_0;  // padded is a multiple of kKvBlock
  KvKernels kv_fp8;
  // `into` is over earlier positions than `from`.
  void (*merge)(const AttentionState& into, const AttentionState& from, size_t rows, size_t padded);
  void (*finish)(const float* acc, float sum, float* y, size_t n);  // y = acc / sum

  void (*causal_conv_silu)(const ConvArgs&);
  // y = x scale / sqrt(sum x^2 + epsilon); y has `padded` floats, zero behind n.
  void (*l2_norm)(const float* x, size_t n, float epsilon, float scale, float* y, size_t padded);
  void (*gated_delta_net)(const DeltaNetHeadArgs&);
};

extern const OpsKernels ops_kernels_avx2;
extern const OpsKernels ops_kernels_avx512;
extern const OpsKernels ops_kernels_avx512_emulated;  // in tests alone

}  // namespace evener::device::cpu
