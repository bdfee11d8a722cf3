#version 460
// y[row] = the results of its choices, each times its weight, in the order of choosing.
#include "common.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Args {
  Floats results;  // [choices, cols]
  Ints experts;
  Floats weights;
  Floats y;
  uint y_stride, rows, cols, chosen, first_expert, num_experts;
};

void main() {
  const uint row = row_of_group();
  const uint col = gl_GlobalInvocationID.x;
  if (row >= rows || col >= cols) return;
  precise float sum = 0.0;
  for (uint k = 0; k < chosen; ++k) {
    const uint choice = row * chosen + k;
    if (uint(experts.v[choice]) - first_expert >= num_experts) continue;
    sum = fma(weights.v[choice], floats_at(results, uint64_t(choice) * cols).v[col], sum);
  }
  floats_at(y, uint64_t(row) * y_stride).v[col] = sum;
}
