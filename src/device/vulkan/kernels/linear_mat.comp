#version 460
// Many rows times a weight: tiles of kOutputs outputs and kRows rows, whose units are decoded into
// shared memory once and then multiplied with each other by threads of 4 outputs and kRowsOfThread
// rows.
#include "linear.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 2) const uint kRowsOfThread = 4;

const uint kOutputs = 64;
const uint kOutputsOfThread = 4;
const uint kRows = 16 * kRowsOfThread;
#ifdef IS_FLOAT
const uint kUnits = 1;  // at a time
#else
const uint kUnits = 4;
#endif

shared UnitOfWeights weights[kUnits * kOutputs];
shared UnitOfInputs inputs_of_tile[kUnits * kRows];

void main() {
  Tile tile;
  if (kIsGrouped) {
    tile = tiles.v[gl_WorkGroupID.y];
    if (tile.count == 0) return;
  } else {
    tile = Tile(0, gl_WorkGroupID.y * kRows, min(kRows, rows - gl_WorkGroupID.y * kRows));
  }
  const uint thread = gl_LocalInvocationID.x;
  const uint first_output = column_of_groups() * kOutputs;
  const uint units = num_units();
  // Outputs and rows of a thread lie 16 apart.
  const uint column = thread % 16;
  const uint line = thread / 16;

  precise float totals[kOutputsOfThread * kRowsOfThread];
  precise float chunk[kOutputsOfThread * kRowsOfThread];
  for (uint i = 0; i < kOutputsOfThread * kRowsOfThread; ++i) totals[i] = chunk[i] = 0.0;

  for (uint first = 0; first < units; first += kUnits) {
    barrier();
    const uint here = min(kUnits, units - first);
    for (uint i = thread; i < here * kOutputs; i += 256) {
      const uint output_index = min(first_output + i / here, outputs - 1);
      weights[i % here * kOutputs + i / here] = load_weights(
          body, heads, books, tile.expert * outputs + output_index, units, first + i % here);
    }
    for (uint i = thread; i < here * kRows; i += 256) {
      const uint row = rows_of(tile, min(i / here, tile.count - 1)).x;
      inputs_of_tile[i % here * kRows + i / here] = load_inputs(row, first + i % here);
    }
    barrier();
    for (uint u = 0; u < here; ++u) {
      const bool begins = (first + u) % kUnitsOfChunk == 0;
      for (uint i = 0; i < kOutputsOfThread; ++i) {
        const UnitOfWeights w = weights[u * kOutputs + i * 16 + column];
        for (uint j = 0; j < kRowsOfThread; ++j) {
          const float p = product(w, inputs_of_tile[u * kRows + j * 16 + line]);
          const uint at = i * kRowsOfThread + j;
          if (begins) {
            totals[at] += chunk[at];
            chunk[at] = p;
          } else {
            chunk[at] += p;
          }
        }
      }
    }
  }
  for (uint i = 0; i < kOutputsOfThread; ++i) {
    const uint output_index = first_output + i * 16 + column;
    for (uint j = 0; j < kRowsOfThread; ++j) {
      const uint n = j * 16 + line;
      if (output_index >= outputs || n >= tile.count) continue;
      precise float value = totals[i * kRowsOfThread + j] + chunk[i * kRowsOfThread + j];
      if (uint64_t(bias) != 0) value += bias.v[output_index];
      floats_at(y, uint64_t(rows_of(tile, n).y) * y_stride).v[output_index] = value;
    }
  }
}
