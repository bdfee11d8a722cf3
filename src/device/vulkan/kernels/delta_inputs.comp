#version 460
// What the delta net needs of each row: unit queries and keys of each key head, decay and beta of
// each value head. One workgroup a row and key head, and one a row for the value heads.
#include "common.glsl"
#include "functions.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Args {
  Floats qkv, beta, alpha, a, dt_bias;
  Floats keys;   // [rows, key heads] of the query, then the key
  Floats gates;  // [rows, value heads] of decay and beta
  uint qkv_stride, beta_stride, alpha_stride, rows, key_heads, value_heads, head_dim;
  float norm_eps;
};

shared float sums[64];

float length_of(Floats x) {
  const uint lane = gl_LocalInvocationID.x;
  precise float squares = 0.0;
  for (uint c = lane; c < head_dim; c += 64) squares = fma(x.v[c], x.v[c], squares);
  barrier();
  sums[lane] = squares;
  for (uint half_of = 32; half_of > 0; half_of /= 2) {
    barrier();
    if (lane < half_of) sums[lane] += sums[lane + half_of];
  }
  barrier();
  return root(sums[0] + norm_eps);
}

void main() {
  const uint row = row_of_group();
  if (row >= rows) return;
  const uint head = gl_WorkGroupID.x;
  const uint lane = gl_LocalInvocationID.x;
  if (head == key_heads) {
    for (uint v = lane; v < value_heads; v += 64) {
      const float time = softplus(floats_at(alpha, uint64_t(row) * alpha_stride).v[v] + dt_bias.v[v]);
      Floats to = floats_at(gates, (uint64_t(row) * value_heads + v) * 2);
      to.v[0] = exp_of(a.v[v] * time);
      to.v[1] = sigmoid(floats_at(beta, uint64_t(row) * beta_stride).v[v]);
    }
    return;
  }
  Floats from = floats_at(qkv, uint64_t(row) * qkv_stride + head * head_dim);
  Floats key = floats_at(from, key_heads * head_dim);
  Floats to = floats_at(keys, (uint64_t(row) * key_heads + head) * 2 * head_dim);
  const float query_length = length_of(from) * root(float(head_dim));
  const float key_length = length_of(key);
  for (uint c = lane; c < head_dim; c += 64) {
    to.v[c] = divide(from.v[c], query_length);
    to.v[head_dim + c] = divide(key.v[c], key_length);
  }
}
