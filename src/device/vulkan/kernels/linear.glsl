// What both linear kernels are given. A unit is 32 inputs, a chunk eight units:
//     y = (((chunk 0) + chunk 1) + ...) + bias,   a chunk being ((unit 0) + unit 1) + ...
// in both, so that a row gets the same bits from either.
#include "common.glsl"
#include "tiles.glsl"
#include "weights.glsl"

layout(constant_id = 1) const bool kIsGrouped = false;  // rows by tiles and places, else in order

layout(push_constant, scalar) uniform Args {
  Words body, heads, books;
#ifdef IS_FLOAT
  Floats x;
#else
  Activations x;
#endif
  Floats bias;  // 0: none
  Floats y;
  Tiles tiles;
  Ints places;  // of the rows of all tiles: numbers of choices
  uint rows, outputs, inputs, x_stride, y_stride;  // x_stride in units, or floats
  uint choices_a_row;  // input rows are those of choice / choices_a_row; 0: of the choice itself
};

// Outputs are spread over x and z, tiles over y.
uint column_of_groups() { return gl_WorkGroupID.z * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

const uint kUnitsOfChunk = 8;
uint num_units() { return (inputs + 31) / 32; }

// Row n of a tile, in the rows of x and of y.
uvec2 rows_of(Tile tile, uint n) {
  if (!kIsGrouped) return uvec2(tile.first + n);
  const uint choice = uint(places.v[tile.first + n]);
  return uvec2(choices_a_row == 0 ? choice : choice / choices_a_row, choice);
}

UnitOfInputs load_inputs(uint row, uint unit) {
#ifdef IS_FLOAT
  Floats from = floats_at(x, uint64_t(row) * x_stride + unit * 32);
  FloatUnit values;
  for (uint i = 0; i < 32; ++i) values.v[i] = unit * 32 + i < inputs ? from.v[i] : 0.0;
  return values;
#else
  return x.v[row * x_stride + unit];
#endif
}
