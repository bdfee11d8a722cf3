#version 460
// Choices by expert, and tiles of at most kRows of them that share one: one workgroup. The order of
// the choices of an expert is any: none of their results depends on it.
#include "common.glsl"
#include "tiles.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kExperts = 64;  // of all
layout(constant_id = 2) const uint kRows = 32;

layout(push_constant, scalar) uniform Args {
  Ints experts;  // [choices]
  Ints places;   // [choices], out: their numbers
  Tiles tiles;   // out
  uint choices, num_tiles, first_expert, num_experts;
};

shared uint counts[kExperts];
shared uint begins[kExperts];
shared uint first_tiles[kExperts];
shared uint used_tiles;

void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint e = lane; e < kExperts; e += 256) counts[e] = 0;
  barrier();
  for (uint i = lane; i < choices; i += 256) atomicAdd(counts[uint(experts.v[i])], 1u);
  barrier();
  if (lane == 0) {
    uint begin = 0;
    uint tile = 0;
    for (uint e = 0; e < num_experts; ++e) {
      const uint count = counts[first_expert + e];
      begins[e] = begin;
      first_tiles[e] = tile;
      begin += count;
      tile += (count + kRows - 1) / kRows;
    }
    used_tiles = tile;
  }
  barrier();
  for (uint e = lane; e < num_experts; e += 256) {
    const uint count = counts[first_expert + e];
    for (uint n = 0; n * kRows < count; ++n) {
      tiles.v[first_tiles[e] + n] = Tile(e, begins[e] + n * kRows, min(kRows, count - n * kRows));
    }
  }
  for (uint t = used_tiles + lane; t < num_tiles; t += 256) tiles.v[t] = Tile(0, 0, 0);
  barrier();
  for (uint i = lane; i < choices; i += 256) {
    const uint e = uint(experts.v[i]) - first_expert;
    if (e < num_experts) places.v[atomicAdd(begins[e], 1u)] = int(i);
  }
}
