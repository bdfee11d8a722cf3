#version 460
// A few rows times a weight, at the speed of its memory. A workgroup has kOutputs outputs; each of
// its threads takes units of one of them, neighbours taking neighbouring units.
#include "linear.glsl"

layout(local_size_x_id = 0) in;  // kOutputs * kLanes
layout(constant_id = 2) const uint kRows = 1;
layout(constant_id = 3) const uint kUnits = 4;  // of a thread, before their products are summed

const uint kOutputs = 4;
const uint kLanes = 32;

shared float products[kRows * kOutputs * kLanes * kUnits];
shared float chunks[kRows * kOutputs * kLanes * kUnits / kUnitsOfChunk];

void main() {
  Tile tile;
  if (kIsGrouped) {
    tile = tiles.v[gl_WorkGroupID.y];
    if (tile.count == 0) return;
  } else {
    tile = Tile(0, gl_WorkGroupID.y * kRows, min(kRows, rows - gl_WorkGroupID.y * kRows));
  }
  const uint thread = gl_LocalInvocationID.x;
  const uint own = thread / kLanes;
  const uint output_of_thread = column_of_groups() * kOutputs + own;
  const uint weight_row = tile.expert * outputs + min(output_of_thread, outputs - 1);
  const uint units = num_units();
  const uint width = kLanes * kUnits;  // units of a turn
  const uint chunks_of_turn = width / kUnitsOfChunk;

  precise float total = 0.0;  // of row thread / kOutputs and output thread % kOutputs
  for (uint first = 0; first < units; first += width) {
    for (uint n = 0; n < kUnits; ++n) {
      const uint place = n * kLanes + thread % kLanes;
      const uint unit = first + place;
      if (unit < units) {
        const UnitOfWeights w = load_weights(body, heads, books, weight_row, units, unit);
        for (uint r = 0; r < kRows; ++r) {
          const float p = r < tile.count ? product(w, load_inputs(rows_of(tile, r).x, unit)) : 0.0;
          products[(r * kOutputs + own) * width + place] = p;
        }
      } else {
        for (uint r = 0; r < kRows; ++r) products[(r * kOutputs + own) * width + place] = 0.0;
      }
    }
    barrier();
    for (uint i = thread; i < kRows * kOutputs * chunks_of_turn; i += gl_WorkGroupSize.x) {
      precise float sum = products[i * kUnitsOfChunk];
      for (uint n = 1; n < kUnitsOfChunk; ++n) sum += products[i * kUnitsOfChunk + n];
      chunks[i] = sum;
    }
    barrier();
    if (thread < kRows * kOutputs) {
      const uint here = min(chunks_of_turn, (units - first + kUnitsOfChunk - 1) / kUnitsOfChunk);
      for (uint i = 0; i < here; ++i) total += chunks[thread * chunks_of_turn + i];
    }
  }
  const uint output_index = column_of_groups() * kOutputs + thread % kOutputs;
  const uint row = thread / kOutputs;
  if (row >= min(kRows, tile.count) || output_index >= outputs) return;
  if (uint64_t(bias) != 0) total += bias.v[output_index];
  floats_at(y, uint64_t(rows_of(tile, row).y) * y_stride).v[output_index] = total;
}
