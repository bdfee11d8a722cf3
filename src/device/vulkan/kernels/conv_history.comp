#version 460
// The last rows of a slice go to its slot; one thread a channel of a slice.
#include "common.glsl"
#include "batch.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Args {
  Floats x;
  Floats states;  // of the layer in slot 0
  Slices slices;
  uint x_stride, slot_floats, num_slices, channels, num_taps;
};

void main() {
  const uint channel = gl_GlobalInvocationID.x;
  const uint index = row_of_group();
  if (channel >= channels || index >= num_slices) return;
  const Slice slice = slices.v[index];
  Floats history = floats_at(states, uint64_t(slice.slot) * slot_floats);
  const uint kept = num_taps - 1;
  for (uint j = 0; j < kept; ++j) {  // rising: what is still to be read lies behind
    const uint from = slice.num_rows + j;  // counted from the oldest row of the history
    history.v[j * channels + channel] =
        from < kept ? history.v[from * channels + channel]
                    : floats_at(x, uint64_t(slice.first_row + from - kept) * x_stride).v[channel];
  }
}
