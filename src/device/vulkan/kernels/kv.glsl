// Pages of keys and values: [layers][pages][kv heads] of page_size keys, then page_size values, each
// a row of whole words. q8_0: the codes, then the scales as halves.
#include "halves.glsl"

const uint kF32 = 0;
const uint kF16 = 1;
const uint kQ8_0 = 2;
const uint kFp8 = 3;

uint kv_row_words(uint type, uint dim) {
  if (type == kF32) return dim;
  if (type == kF16) return (dim + 1) / 2;
  if (type == kQ8_0) return dim / 4 + (dim / 32 + 1) / 2;
  return (dim + 3) / 4;
}

// Positions that attention takes together, wherever rows begin; spans are merged in rising order.
const uint kSpan = 512;
