#version 460
// The column of a row's largest finite value, the lowest of equal ones; -1: none is finite. One
// workgroup a piece of a row; a second round chooses among what the pieces of the first gave.
#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const bool kIsSecondRound = false;

layout(push_constant, scalar) uniform Args {
  Words x;       // floats: compared by their bits, of which no driver flushes any
  Ints columns;  // of the second round: [rows, cols] to choose among, rising but for -1
  Ints best;     // [rows, pieces]
  uint x_stride, rows, cols, piece_cols;
};

shared uint keys[256];
shared uint bests[256];

const uint kNone = 0xffffffffu;

// Rises with the value, and is equal for both zeros; 0 for what is not finite.
uint key_of(uint bits) {
  if ((bits & 0x7f800000u) == 0x7f800000u) return 0u;
  if (bits == 0x80000000u) bits = 0u;
  return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

void main() {
  const uint row = row_of_group();
  if (row >= rows) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint piece = gl_WorkGroupID.x;
  const uint end = min((piece + 1) * piece_cols, cols);
  Words in_row = words_at(x, uint64_t(row) * x_stride);
  Ints columns_of_row = Ints(uint64_t(columns) + 4 * uint64_t(row) * cols);

  uint own_key = 0u;
  uint own = kNone;
  for (uint c = piece * piece_cols + lane; c < end; c += 256) {
    const uint column = kIsSecondRound ? uint(columns_of_row.v[c]) : c;
    if (column == kNone) continue;
    const uint key = key_of(in_row.v[column]);
    if (key > own_key) {
      own_key = key;
      own = column;
    }
  }
  keys[lane] = own_key;
  bests[lane] = own;
  for (uint half_of = 128; half_of > 0; half_of /= 2) {
    barrier();
    if (lane >= half_of) continue;
    const uint other_key = keys[lane + half_of];
    const uint other = bests[lane + half_of];
    if (other_key > keys[lane] || (other_key == keys[lane] && other < bests[lane])) {
      keys[lane] = other_key;
      bests[lane] = other;
    }
  }
  if (lane == 0) best.v[row * gl_NumWorkGroups.x + piece] = int(bests[0]);
}
