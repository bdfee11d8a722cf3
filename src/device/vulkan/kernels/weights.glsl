// Units of 32 weights and of 32 activations, and their product, for the format that the file is
// compiled for. Codes are four signed bytes a word. Weights lie as the file has them, but that what
// is no multiple of four bytes in a block, its scale, lies behind all blocks: weight_layout.h.
//
//     weight[i] = scale[i / 16] * code[i] + least[i / 16]
//
// Both halves of a unit share scale and least but in formats with HAS_HALVES.
#include "halves.glsl"

struct ActivationUnit {
  uint codes[8];
  float scale;
  uint sums;       // of the codes 0..15 and 16..31, two shorts
  float half_sum;  // scale * sum of all, as a half: what Q4_1 and Q5_1 multiply their minimum with
  uint unused;
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Activations { ActivationUnit v[]; };

// a * b summed over four signed bytes.
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int dot_of_bytes(uint a, uint b, spirv_literal int packed_format);
int dot4(uint a, uint b) { return dot_of_bytes(a, b, 0); }

struct WeightUnit {
  uint codes[8];
  vec2 scale;
  vec2 least;
};

uint byte_of(uint word, uint index) { return (word >> (8 * index)) & 255u; }

// Bytes below 128 less those of b.
uint less(uint a, uint b) { return ((a | 0x80808080u) - b) ^ 0x80808080u; }

// Four bits as the lowest bit of a byte each.
uint spread(uint four) { return (four * 0x00204081u) & 0x01010101u; }

// Bytes that are not 0, negated where a bit of `signs` is set.
uint with_signs(uint bytes, uint signs) {
  const uint ones = spread(signs & 15u);
  return (bytes ^ (ones * 255u)) + ones;
}

// The seventh sign is the parity of the others.
uint even_signs(uint seven) { return seven | (uint(bitCount(seven)) & 1u) << 7; }

// The block's part in whole words, and its scale where that lies apart.
struct Block {
  Words body;
  uint first;  // word
  Words heads;
  uint index;
};
uint word_of(Block b, uint index) { return b.body.v[b.first + index]; }
uint head_half(Block b) { return (b.heads.v[b.index / 2] >> (16 * (b.index & 1u))) & 0xffffu; }
uint head_byte(Block b) { return byte_of(b.heads.v[b.index / 4], b.index & 3u); }
float head_scale(Block b) { return half_value(head_half(b)); }

// Products of scales, rounded as they stand: what units are made of must not be multiplied out.
float times(float a, float b) {
  precise const float y = a * b;
  return y;
}
vec2 times(float a, vec2 b) {
  precise const vec2 y = a * b;
  return y;
}

WeightUnit with_scale(float scale) {
  WeightUnit w;
  w.scale = vec2(scale);
  w.least = vec2(0);
  return w;
}

// A scale in the lower and a least weight in the upper half of a word.
WeightUnit with_scale_and_least(uint halves) {
  WeightUnit w = with_scale(half_value(halves & 0xffffu));
  w.least = vec2(half_value(halves >> 16));
  return w;
}

// Sixteen 4-bit codes of low halves, then of high ones.
#define EVENER_NIBBLES(w, first, change)                                  \
  for (uint i = 0; i < 4; ++i) {                                          \
    const uint word = word_of(b, (first) + i);                            \
    w.codes[i] = change(word & 0x0f0f0f0fu);                              \
    w.codes[i + 4] = change((word >> 4) & 0x0f0f0f0fu);                   \
  }

uint level_of(uint packed[4], uint code) { return byte_of(packed[code >> 2], code & 3u); }

uint levels_of(uint packed[4], uint codes) {
  return level_of(packed, codes & 15u) | level_of(packed, (codes >> 8) & 15u) << 8 |
         level_of(packed, (codes >> 16) & 15u) << 16 | level_of(packed, codes >> 24) << 24;
}
const uint kIq4[4] = {0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u};
const uint kFp4[4] = {0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu};
uint iq4_levels(uint codes) { return levels_of(kIq4, codes); }
uint fp4_levels(uint codes) { return levels_of(kFp4, codes); }
uint less_8(uint codes) { return less(codes, 0x08080808u); }
uint same(uint codes) { return codes; }

// The scale and the minimum of a sub-block of Q4_K and Q5_K; quant/k_scales.h has the layout.
uvec2 k_scale_and_min(Block b, uint sub) {
  const uint i = sub & 3u;
  const uint scales = byte_of(word_of(b, 1), i);
  const uint mins = byte_of(word_of(b, 2), i);
  if (sub < 4) return uvec2(scales & 63u, mins & 63u);
  const uint low = byte_of(word_of(b, 3), i);
  return uvec2((low & 15u) | (scales >> 6) << 4, (low >> 4) | (mins >> 6) << 4);
}

// A sub-block of them without its codes.
WeightUnit k_unit(Block b, uint sub) {
  const uint word = word_of(b, 0);
  const uvec2 factors = k_scale_and_min(b, sub);
  WeightUnit w = with_scale(times(half_value(word & 0xffffu), float(factors.x)));
  w.least = vec2(times(-half_value(word >> 16), float(factors.y)));
  return w;
}

// Codebooks, in words; those of Codebooks in codebook_memory.h.
const uint kIq1Grid = 0;
const uint kIq2XxsGrid = 4096;
const uint kIq2XsGrid = 4608;
const uint kIq2SGrid = 5632;
const uint kIq3XxsGrid = 7680;
const uint kIq3SGrid = 7936;

// A point of eight coordinates as codes 8 i and the seven behind it.
void put_point(inout WeightUnit w, uint i, Words books, uint point, uint signs) {
  w.codes[2 * i] = with_signs(books.v[point], signs);
  w.codes[2 * i + 1] = with_signs(books.v[point + 1], signs >> 4);
}

// One of IQ1, whose codes are 8 coordinate + or - 1; the book has 8 coordinate + 16.
void put_shifted_point(inout WeightUnit w, uint i, Words books, uint index, bool is_negative) {
  const uint point = kIq1Grid + 2 * index;
  const uint shift = is_negative ? 0x11111111u : 0x0f0f0f0fu;
  w.codes[2 * i] = less(books.v[point], shift);
  w.codes[2 * i + 1] = less(books.v[point + 1], shift);
}

// Unit `s` of block b.
#if defined(FORMAT_Q4_0)
const uint kBlock = 32, kBodyWords = 4;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  EVENER_NIBBLES(w, 0, less_8)
  return w;
}
#elif defined(FORMAT_Q4_1)
#define HAS_HALF_SUM
const uint kBlock = 32, kBodyWords = 5;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale_and_least(word_of(b, 0));
  EVENER_NIBBLES(w, 1, same)
  return w;
}
#elif defined(FORMAT_Q5_0)
const uint kBlock = 32, kBodyWords = 5;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  const uint fifth = word_of(b, 0);
  EVENER_NIBBLES(w, 1, same)
  for (uint i = 0; i < 8; ++i) {
    w.codes[i] = less(w.codes[i] | spread((fifth >> (4 * i)) & 15u) << 4, 0x10101010u);
  }
  return w;
}
#elif defined(FORMAT_Q5_1)
#define HAS_HALF_SUM
const uint kBlock = 32, kBodyWords = 6;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale_and_least(word_of(b, 0));
  const uint fifth = word_of(b, 1);
  EVENER_NIBBLES(w, 2, same)
  for (uint i = 0; i < 8; ++i) w.codes[i] |= spread((fifth >> (4 * i)) & 15u) << 4;
  return w;
}
#elif defined(FORMAT_Q8_0)
const uint kBlock = 32, kBodyWords = 8;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  for (uint i = 0; i < 8; ++i) w.codes[i] = word_of(b, i);
  return w;
}
#elif defined(FORMAT_Q2_K)
#define HAS_HALVES
#define HAS_LEAST
const uint kBlock = 256, kBodyWords = 21;
WeightUnit decode(Block b, uint s, Words books) {
  const uint word = word_of(b, 20);
  const uint subs = (word_of(b, s / 2) >> (16 * (s & 1u))) & 0xffffu;
  const float scale = half_value(word & 0xffffu);
  const float least = half_value(word >> 16);
  WeightUnit w;
  w.scale = times(scale, vec2(subs & 15u, (subs >> 8) & 15u));
  w.least = times(-least, vec2((subs >> 4) & 15u, subs >> 12));
  for (uint i = 0; i < 8; ++i) {
    w.codes[i] = (word_of(b, 4 + s / 4 * 8 + i) >> (2 * (s & 3u))) & 0x03030303u;
  }
  return w;
}
#elif defined(FORMAT_Q3_K)
#define HAS_HALVES
const uint kBlock = 256, kBodyWords = 27;
int sub_scale(Block b, uint sub) {
  const uint low = byte_of(word_of(b, 24 + sub % 8 / 4), sub % 4) >> (sub < 8 ? 0 : 4);
  const uint high = byte_of(word_of(b, 26), sub % 4) >> (sub / 4 * 2);
  return int((low & 15u) | (high & 3u) << 4) - 32;
}
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(0.0);
  w.scale = times(head_scale(b), vec2(sub_scale(b, 2 * s), sub_scale(b, 2 * s + 1)));
  for (uint i = 0; i < 8; ++i) {
    const uint low = (word_of(b, 8 + s / 4 * 8 + i) >> (2 * (s & 3u))) & 0x03030303u;
    const uint high = (word_of(b, i) >> s) & 0x01010101u;
    w.codes[i] = less(low | high << 2, 0x04040404u);
  }
  return w;
}
#elif defined(FORMAT_Q4_K)
#define HAS_LEAST
const uint kBlock = 256, kBodyWords = 36;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = k_unit(b, s);
  for (uint i = 0; i < 8; ++i) {
    w.codes[i] = (word_of(b, 4 + s / 2 * 8 + i) >> (4 * (s & 1u))) & 0x0f0f0f0fu;
  }
  return w;
}
#elif defined(FORMAT_Q5_K)
#define HAS_LEAST
const uint kBlock = 256, kBodyWords = 44;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = k_unit(b, s);
  for (uint i = 0; i < 8; ++i) {
    const uint low = (word_of(b, 12 + s / 2 * 8 + i) >> (4 * (s & 1u))) & 0x0f0f0f0fu;
    w.codes[i] = low | ((word_of(b, 4 + i) >> s) & 0x01010101u) << 4;
  }
  return w;
}
#elif defined(FORMAT_Q6_K)
#define HAS_HALVES
const uint kBlock = 256, kBodyWords = 52;
WeightUnit decode(Block b, uint s, Words books) {
  const uint h = s / 4;
  const uint quarter = s & 3u;
  const int subs = int(word_of(b, 48 + s / 2) >> (16 * (s & 1u)));
  WeightUnit w = with_scale(0.0);
  w.scale = times(head_scale(b), vec2(bitfieldExtract(subs, 0, 8), bitfieldExtract(subs, 8, 8)));
  for (uint i = 0; i < 8; ++i) {
    const uint low = word_of(b, h * 16 + (quarter & 1u) * 8 + i) >> (quarter < 2 ? 0 : 4);
    const uint high = word_of(b, 32 + h * 8 + i) >> (2 * quarter);
    w.codes[i] = less((low & 0x0f0f0f0fu) | (high & 0x03030303u) << 4, 0x20202020u);
  }
  return w;
}
#elif defined(FORMAT_IQ4_NL)
const uint kBlock = 32, kBodyWords = 4;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  EVENER_NIBBLES(w, 0, iq4_levels)
  return w;
}
#elif defined(FORMAT_IQ4_XS)
const uint kBlock = 256, kBodyWords = 34;
WeightUnit decode(Block b, uint s, Words books) {
  const uint word = word_of(b, 0);
  const uint low = (word_of(b, 1) >> (4 * s)) & 15u;
  const uint high = (word >> (16 + 2 * s)) & 3u;
  WeightUnit w = with_scale(times(half_value(word & 0xffffu), float(int(low | high << 4) - 32)));
  EVENER_NIBBLES(w, 2 + 4 * s, iq4_levels)
  return w;
}
#elif defined(FORMAT_MXFP4)
const uint kBlock = 32, kBodyWords = 4;
WeightUnit decode(Block b, uint s, Words books) {
  const uint e = head_byte(b);  // 2^(e - 128), levels being doubled
  WeightUnit w = with_scale(uintBitsToFloat(e < 2 ? 0x00200000u << e : (e - 1) << 23));
  EVENER_NIBBLES(w, 0, fp4_levels)
  return w;
}
#elif defined(FORMAT_NVFP4)
#define HAS_HALVES
const uint kBlock = 64, kBodyWords = 9;
float sub_scale(uint bits) {
  const uint exponent = (bits >> 3) & 15u;
  const uint fraction = bits & 7u;
  if (bits == 127u) return 0.0;
  return exponent == 0u ? float(fraction) * 0.0009765625
                        : uintBitsToFloat((exponent + 119u) << 23 | fraction << 20);
}
WeightUnit decode(Block b, uint s, Words books) {
  const uint scales = word_of(b, 0) >> (16 * s);
  WeightUnit w;
  w.scale = vec2(sub_scale(scales & 255u), sub_scale((scales >> 8) & 255u));
  w.least = vec2(0);
  for (uint sub = 0; sub < 2; ++sub) {
    for (uint i = 0; i < 2; ++i) {
      const uint word = word_of(b, 1 + 4 * s + 2 * sub + i);
      w.codes[4 * sub + i] = fp4_levels(word & 0x0f0f0f0fu);
      w.codes[4 * sub + i + 2] = fp4_levels((word >> 4) & 0x0f0f0f0fu);
    }
  }
  return w;
}
#elif defined(FORMAT_TQ1_0)
const uint kBlock = 256, kBodyWords = 13;
// Digit `digit` of each byte, less 1.
uint digits_of(uint bytes, uint digit) {
  const uint powers[5] = {1, 3, 9, 27, 81};
  uint codes = 0;
  for (uint i = 0; i < 4; ++i) {
    const uint rest = (byte_of(bytes, i) * powers[digit]) & 255u;
    codes |= (rest * 3 >> 8) << (8 * i);
  }
  return less(codes, 0x01010101u);
}
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  for (uint i = 0; i < 8; ++i) {
    if (s < 5) {
      w.codes[i] = digits_of(word_of(b, i), s);
    } else if (s < 7 || i < 4) {
      w.codes[i] = digits_of(word_of(b, 8 + i % 4), 2 * (s - 5) + i / 4);
    } else {
      w.codes[i] = digits_of(word_of(b, 12), i - 4);
    }
  }
  return w;
}
#elif defined(FORMAT_TQ2_0)
const uint kBlock = 256, kBodyWords = 16;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  for (uint i = 0; i < 8; ++i) {
    const uint codes = (word_of(b, s / 4 * 8 + i) >> (2 * (s & 3u))) & 0x03030303u;
    w.codes[i] = less(codes, 0x01010101u);
  }
  return w;
}
#elif defined(FORMAT_Q1_0)
const uint kBlock = 128, kBodyWords = 4;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  const uint bits = word_of(b, s);
  for (uint i = 0; i < 8; ++i) {
    w.codes[i] = less(spread((bits >> (4 * i)) & 15u) << 1, 0x01010101u);
  }
  return w;
}
#elif defined(FORMAT_Q2_0)
const uint kBlock = 64, kBodyWords = 4;
WeightUnit decode(Block b, uint s, Words books) {
  WeightUnit w = with_scale(head_scale(b));
  for (uint i = 0; i < 8; ++i) {
    const uint four = byte_of(word_of(b, 2 * s + i / 4), i & 3u);
    const uint codes =
        (four & 3u) | (four & 12u) << 6 | (four & 48u) << 12 | (four & 192u) << 18;
    w.codes[i] = less(codes, 0x01010101u);
  }
  return w;
}
#elif defined(FORMAT_IQ2_XXS)
const uint kBlock = 256, kBodyWords = 16;
WeightUnit decode(Block b, uint s, Words books) {
  const uint word = word_of(b, 2 * s + 1);
  const uint indices = word_of(b, 2 * s);
  WeightUnit w = with_scale(times(head_scale(b), (float(word >> 28) + 0.5) * 0.25));
  for (uint i = 0; i < 4; ++i) {
    const uint point = kIq2XxsGrid + 2 * byte_of(indices, i);
    put_point(w, i, books, point, even_signs((word >> (7 * i)) & 127u));
  }
  return w;
}
#elif defined(FORMAT_IQ2_XS)
#define HAS_HALVES
const uint kBlock = 256, kBodyWords = 18;
WeightUnit decode(Block b, uint s, Words books) {
  const uint subs = byte_of(word_of(b, 16 + s / 4), s & 3u);
  WeightUnit w = with_scale(0.0);
  w.scale = times(head_scale(b), (vec2(subs & 15u, subs >> 4) + 0.5) * 0.25);
  for (uint i = 0; i < 4; ++i) {
    const uint both = (word_of(b, 2 * s + i / 2) >> (16 * (i & 1u))) & 0xffffu;
    const uint point = kIq2XsGrid + 2 * (both & 511u);
    put_point(w, i, books, point, even_signs(both >> 9));
  }
  return w;
}
#elif defined(FORMAT_IQ2_S)
#define HAS_HALVES
const uint kBlock = 256, kBodyWords = 20;
WeightUnit decode(Block b, uint s, Words books) {
  const uint subs = byte_of(word_of(b, 18 + s / 4), s & 3u);
  const uint high = byte_of(word_of(b, 16 + s / 4), s & 3u);
  const uint low = word_of(b, s);
  const uint signs = word_of(b, 8 + s);
  WeightUnit w = with_scale(0.0);
  w.scale = times(head_scale(b), (vec2(subs & 15u, subs >> 4) + 0.5) * 0.25);
  for (uint i = 0; i < 4; ++i) {
    const uint point = kIq2SGrid + 2 * (byte_of(low, i) | ((high >> (2 * i)) & 3u) << 8);
    put_point(w, i, books, point, byte_of(signs, i));
  }
  return w;
}
#elif defined(FORMAT_IQ3_XXS)
const uint kBlock = 256, kBodyWords = 24;
WeightUnit decode(Block b, uint s, Words books) {
  const uint word = word_of(b, 16 + s);
  WeightUnit w = with_scale(times(head_scale(b), (float(word >> 28) + 0.5) * 0.5));
  for (uint i = 0; i < 8; ++i) {
    const uint index = byte_of(word_of(b, 2 * s + i / 4), i & 3u);
    const uint signs = even_signs((word >> (i / 2 * 7)) & 127u) >> (4 * (i & 1u));
    w.codes[i] = with_signs(books.v[kIq3XxsGrid + index], signs);
  }
  return w;
}
#elif defined(FORMAT_IQ3_S)
const uint kBlock = 256, kBodyWords = 27;
WeightUnit decode(Block b, uint s, Words books) {
  const uint sub = (word_of(b, 26) >> (4 * s)) & 15u;
  const uint high = byte_of(word_of(b, 16 + s / 4), s & 3u);
  const uint signs = word_of(b, 18 + s);
  WeightUnit w = with_scale(times(head_scale(b), float(2 * sub + 1)));
  for (uint i = 0; i < 8; ++i) {
    const uint low = byte_of(word_of(b, 2 * s + i / 4), i & 3u);
    const uint point = kIq3SGrid + (low | ((high >> i) & 1u) << 8);
    w.codes[i] = with_signs(books.v[point], signs >> (4 * i));
  }
  return w;
}
#elif defined(FORMAT_IQ1_S)
const uint kBlock = 256, kBodyWords = 12;
WeightUnit decode(Block b, uint s, Words books) {
  const uint word = (word_of(b, 8 + s / 2) >> (16 * (s & 1u))) & 0xffffu;
  const uint low = word_of(b, s);
  WeightUnit w = with_scale(times(head_scale(b), float(2 * ((word >> 12) & 7u) + 1) * 0.125));
  for (uint i = 0; i < 4; ++i) {
    const uint index = byte_of(low, i) | ((word >> (3 * i)) & 7u) << 8;
    put_shifted_point(w, i, books, index, (word >> 15) != 0u);
  }
  return w;
}
#elif defined(FORMAT_IQ1_M)
#define HAS_HALVES
const uint kBlock = 256, kBodyWords = 14;
WeightUnit decode(Block b, uint s, Words books) {
  const uint first = word_of(b, 12);
  const uint second = word_of(b, 13);
  const uint h = (first >> 12) & 15u | ((first >> 28) & 15u) << 4 | ((second >> 12) & 15u) << 8 |
                 (second >> 28) << 12;
  const uint word = ((s < 4 ? first : second) >> (16 * (s / 2 & 1u))) & 0xffffu;
  const uint subs = word >> (6 * (s & 1u));
  const uint low = word_of(b, s);
  const uint high = word_of(b, 8 + s / 2) >> (16 * (s & 1u));
  WeightUnit w = with_scale(0.0);
  w.scale = times(half_value(h), vec2(2 * (subs & 7u) + 1, 2 * ((subs >> 3) & 7u) + 1) * 0.125);
  for (uint i = 0; i < 4; ++i) {
    const uint four = (high >> (4 * i)) & 15u;
    put_shifted_point(w, i, books, byte_of(low, i) | (four & 7u) << 8, (four & 8u) != 0u);
  }
  return w;
}
#elif defined(FORMAT_F32)
#define IS_FLOAT
const uint kBlock = 32, kBodyWords = 32;
float weight_of(Block b, uint i) { return uintBitsToFloat(word_of(b, i)); }
#elif defined(FORMAT_F16)
#define IS_FLOAT
const uint kBlock = 32, kBodyWords = 16;
float weight_of(Block b, uint i) {
  return half_value((word_of(b, i / 2) >> (16 * (i & 1u))) & 0xffffu);
}
#elif defined(FORMAT_BF16)
#define IS_FLOAT
const uint kBlock = 32, kBodyWords = 16;
float weight_of(Block b, uint i) {
  return uintBitsToFloat(((word_of(b, i / 2) >> (16 * (i & 1u))) & 0xffffu) << 16);
}
#endif

// A whole weight: blocks of row after row, expert after expert.
Block block_of(Words body, Words heads, uint row, uint units, uint unit) {
  Block b;
  b.index = row * (units / (kBlock / 32)) + unit / (kBlock / 32);
  b.body = body;
  b.first = b.index * kBodyWords;
  b.heads = heads;
  return b;
}

#ifdef IS_FLOAT
#define UnitOfWeights FloatUnit
#define UnitOfInputs FloatUnit
struct FloatUnit {
  float v[32];
};

FloatUnit load_weights(Words body, Words heads, Words books, uint row, uint units, uint unit) {
  Block b = block_of(body, heads, row, units, unit);
  FloatUnit w;
  for (uint i = 0; i < 32; ++i) w.v[i] = weight_of(b, i);
  return w;
}

float product(FloatUnit w, FloatUnit x) {
  precise float sum = 0.0;
  for (uint i = 0; i < 32; ++i) sum = fma(w.v[i], x.v[i], sum);
  return sum;
}
#else
#define UnitOfWeights WeightUnit
#define UnitOfInputs ActivationUnit

WeightUnit load_weights(Words body, Words heads, Words books, uint row, uint units, uint unit) {
  return decode(block_of(body, heads, row, units, unit), unit % (kBlock / 32), books);
}

float product(WeightUnit w, ActivationUnit x) {
  int first = 0;
  int second = 0;
  for (uint i = 0; i < 4; ++i) {
    first += dot4(w.codes[i], x.codes[i]);
    second += dot4(w.codes[i + 4], x.codes[i + 4]);
  }
  // Inputs first: weights' scales may be near the ends of the range of floats.
#ifdef HAS_HALVES
  const float a = times(w.scale.x, times(x.scale, float(first)));
  precise float y = fma(w.scale.y, times(x.scale, float(second)), a);
#else
  precise float y = times(w.scale.x, times(x.scale, float(first + second)));
#endif
#ifdef HAS_LEAST
  const int sum_of_first = bitfieldExtract(int(x.sums), 0, 16);
  const int sum_of_second = bitfieldExtract(int(x.sums), 16, 16);
#ifdef HAS_HALVES
  y = fma(w.least.x, times(x.scale, float(sum_of_first)), y);
  y = fma(w.least.y, times(x.scale, float(sum_of_second)), y);
#else
  y = fma(w.least.x, times(x.scale, float(sum_of_first + sum_of_second)), y);
#endif
#endif
#ifdef HAS_HALF_SUM
  y = fma(w.least.x, x.half_sum, y);
#endif
  return y;
}
#endif
