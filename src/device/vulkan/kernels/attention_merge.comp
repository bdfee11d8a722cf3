#version 460
// The spans of one row and head, in rising order. Rows within one span are there already.
#include "common.glsl"
#include "functions.glsl"
#include "batch.glsl"
#include "kv.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Args {
  Floats partial, y;
  RowPlaces places;
  uint y_stride, num_heads, head_dim, first_row, rows, num_spans;
};

void main() {
  const uint row = row_of_group();
  const uint head = gl_WorkGroupID.x;
  if (row >= rows) return;
  const uint end = places.v[first_row + row].position + 1;
  if (end <= kSpan) return;
  const uint spans = (end + kSpan - 1) / kSpan;
  const uint width = head_dim + 2;
  Floats from = floats_at(partial, (uint64_t(row) * num_heads + head) * num_spans * width);
  for (uint c = gl_LocalInvocationID.x; c < head_dim; c += gl_WorkGroupSize.x) {
    precise float acc = from.v[c];
    precise float m = from.v[head_dim];
    precise float total = from.v[head_dim + 1];
    for (uint s = 1; s < spans; ++s) {
      const uint at = s * width;
      const float next = from.v[at + head_dim];
      const float both = max(m, next);
      const float a = m == both ? 1.0 : exp_of(m - both);
      const float b = next == both ? 1.0 : exp_of(next - both);
      precise const float kept = acc * a;
      precise const float kept_total = total * a;
      acc = fma(from.v[at + c], b, kept);
      total = fma(from.v[at + head_dim + 1], b, kept_total);
      m = both;
    }
    floats_at(y, uint64_t(first_row + row) * y_stride + head * head_dim).v[c] = divide(acc, total);
  }
}
