#version 460
// Causal convolution over time, then silu; one thread a row and channel. Rows before the slice come
// from its slot, which conv_history.comp brings up to date afterwards.
#include "common.glsl"
#include "functions.glsl"
#include "batch.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Args {
  Floats x, taps, y;
  Floats states;  // of the layer in slot 0
  RowPlaces places;
  uint x_stride, taps_stride, y_stride, slot_floats, rows, channels, num_taps;
};

void main() {
  const uint row = row_of_group();
  const uint channel = gl_GlobalInvocationID.x;
  if (row >= rows || channel >= channels) return;
  const RowPlace place = places.v[row];
  Floats history = floats_at(states, uint64_t(place.slot) * slot_floats);
  Floats own_taps = floats_at(taps, uint64_t(channel) * taps_stride);
  precise float sum = 0.0;
  for (uint j = 0; j < num_taps; ++j) {
    const int from = int(row - place.first_row) + int(j) + 1 - int(num_taps);  // within the slice
    const float value = from >= 0
        ? floats_at(x, uint64_t(place.first_row + uint(from)) * x_stride).v[channel]
        : history.v[uint(from + int(num_taps) - 1) * channels + channel];
    sum = fma(own_taps.v[j], value, sum);
  }
  floats_at(y, uint64_t(row) * y_stride).v[channel] = silu(sum);
}
