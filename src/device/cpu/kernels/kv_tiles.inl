// How a tile of the KV cache keeps its numbers: one struct and one store function a type. Needs
// elementwise.inl.
//
// A tile holds its keys channel by channel, [padded][kTile], so that a vector holds the numbers of
// neighbouring positions; then its values in strips of kTile channels, [padded / kTile][kTile
// positions][kTile]. With scales, those follow: a half for each kKvBlock channels of a position,
// [padded / kKvBlock][kTile positions] of the keys, then of the values.
//
// A struct gives the kTile numbers that lie side by side as a row: of keys, channel d; of values,
// strip * kTile + position. They come without their scales, which the attention applies where that
// is cheapest; they are exact in f32, so that whoever reads them, once or many times, sees the
// same.

constexpr size_t kTileVecs = kTile / F32::kLanes;

struct TileRow {
  F32 v[kTileVecs];
};

struct FloatTile {
  static constexpr size_t kRowsUndecoded = SIZE_MAX;
  static constexpr bool kScaled = false;
  using Decoded = FloatTile;
  const float* numbers;
  size_t padded;

  static FloatTile at(const void* tile, size_t padded) {
    return {static_cast<const float*>(tile), padded};
  }
  FloatTile decoded(const float* copy) const { return {copy, padded}; }
  TileRow keys(size_t d) const { return row_at(d); }
  TileRow values(size_t i) const { return row_at(padded + i); }

 private:
  TileRow row_at(size_t i) const {
    TileRow row;
    for (size_t v = 0; v < kTileVecs; ++v) {
      row.v[v] = F32::load(numbers + i * kTile + v * F32::kLanes);
    }
    return row;
  }
};

struct HalfTile {
  static constexpr size_t kRowsUndecoded = 8;
  static constexpr bool kScaled = false;
  using Decoded = FloatTile;
  const uint16_t* numbers;
  size_t padded;

  static HalfTile at(const void* tile, size_t padded) {
    return {static_cast<const uint16_t*>(tile), padded};
  }
  FloatTile decoded(const float* copy) const { return {copy, padded}; }
  TileRow keys(size_t d) const { return row_at(d); }
  TileRow values(size_t i) const { return row_at(padded + i); }

 private:
  TileRow row_at(size_t i) const {
    TileRow row;
    for (size_t v = 0; v < kTileVecs; ++v) {
      row.v[v] = F32::load_f16(numbers + i * kTile + v * F32::kLanes);
    }
    return row;
  }
};

// The scales of a tile: of block b of the channels, at its positions.
struct TileScales {
  const uint16_t* scales;  // of the keys, then of the values
  size_t num_blocks;

  TileRow of_keys(size_t b) const { return row_at(b); }
  TileRow of_values(size_t b) const { return row_at(num_blocks + b); }

 private:
  TileRow row_at(size_t b) const {
    TileRow row;
    for (size_t v = 0; v < kTileVecs; ++v) {
      row.v[v] = F32::load_f16(scales + b * kTile + v * F32::kLanes);
    }
    return row;
  }
};

struct Q8DecodedTile {
  static constexpr bool kScaled = true;
  FloatTile codes;
  TileScales scales;

  TileRow keys(size_t d) const { return codes.keys(d); }
  TileRow values(size_t i) const { return codes.values(i); }
  TileRow key_scales(size_t b) const { return scales.of_keys(b); }
  TileRow value_scales(size_t b) const { return scales.of_values(b); }
};

struct Q8Tile {
  static constexpr size_t kRowsUndecoded = 8;
  static constexpr bool kScaled = true;
  using Decoded = Q8DecodedTile;
  const int8_t* codes;
  size_t padded;
  TileScales scales;

  static Q8Tile at(const void* tile, size_t padded) {
    const int8_t* const codes = static_cast<const int8_t*>(tile);
    return {codes,
            padded,
            {reinterpret_cast<const uint16_t*>(codes + 2 * padded * kTile), padded / kKvBlock}};
  }
  Q8DecodedTile decoded(const float* copy) const { return {{copy, padded}, scales}; }
  TileRow keys(size_t d) const { return row_at(d); }
  TileRow values(size_t i) const { return row_at(padded + i); }
  TileRow key_scales(size_t b) const { return scales.of_keys(b); }
  TileRow value_scales(size_t b) const { return scales.of_values(b); }

 private:
  TileRow row_at(size_t i) const {
    TileRow row;
    for (size_t v = 0; v < kTileVecs; ++v) {
      row.v[v] = F32::load_i8(codes + i * kTile + v * F32::kLanes);
    }
    return row;
  }
};

// The 8 bits of a number, moved to where a half has them, are that half over kFp8Unit: its
// exponents are biased by 15, not by 7. This holds for subnormal ones too, but not for NaN, whose
// half is made by hand.
struct Fp8Tile {
  static constexpr size_t kRowsUndecoded = 4;
  static constexpr bool kScaled = false;
  using Decoded = FloatTile;
  const uint8_t* codes;
  size_t padded;

  static Fp8Tile at(const void* tile, size_t padded) {
    return {static_cast<const uint8_t*>(tile), padded};
  }
  FloatTile decoded(const float* copy) const { return {copy, padded}; }
  TileRow keys(size_t d) const { return row_at(d); }
  TileRow values(size_t i) const { return row_at(padded + i); }

 private:
  TileRow row_at(size_t i) const {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i * kTile));
    const __m256i moved = _mm256_slli_epi16(_mm256_cvtepi8_epi16(bytes), 7);
    const __m256i sign_and_number = _mm256_and_si256(moved, _mm256_set1_epi16(int16_t(0xbf80)));
    const __m256i number = _mm256_and_si256(moved, _mm256_set1_epi16(0x3f80));
    const __m256i is_nan = _mm256_cmpeq_epi16(number, _mm256_set1_epi16(0x3f80));
    const F16x16 halves = {_mm256_or_si256(sign_and_number, is_nan)};
    TileRow row;
    for (size_t v = 0; v < kTileVecs; ++v) row.v[v] = halves.lanes(v * F32::kLanes);
    return row;
  }
};

// A position's number `d` of key or value among the tile's numbers.
size_t key_place(const StoreArgs& args, size_t d) { return d * kTile + args.position; }
size_t value_place(const StoreArgs& args, size_t d) {
  return (args.padded + d / kTile * kTile + args.position) * kTile + d % kTile;
}

// Keys one by one down a column of the tile, values into a row of each strip.
template <class T, class Convert>
void store_position(const StoreArgs& args, Convert convert) {
  T* const numbers = static_cast<T*>(args.tile);
  for (size_t d = 0; d < args.head_dim; ++d) {
    numbers[key_place(args, d)] = convert(args.k[d]);
    numbers[value_place(args, d)] = convert(args.v[d]);
  }
}

void store_f32(const StoreArgs& args) {
  store_position<float>(args, [](float x) { return x; });
}

void store_f16(const StoreArgs& args) {
  store_position<uint16_t>(args, [](float x) { return to_f16(x); });
}

// The nearest 8-bit float, ties to even. Below 2^-6 the grid is 2^-9, to which the addition of 2^14
// rounds.
uint8_t to_fp8(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint32_t sign = bits >> 24 & 0x80;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000) return uint8_t(sign | 0x7f);
  if (magnitude >= 0x43e00000) return uint8_t(sign | 0x7e);  // 448 and up
  if (magnitude < 0x3c800000) {
    const float on_grid = fabsf(x) + 16384;
    memcpy(&bits, &on_grid, sizeof bits);
    return uint8_t(sign | (bits & 0xf));
  }
  const uint32_t odd = magnitude >> 20 & 1;
  return uint8_t(sign | (magnitude + 0x7ffff + odd - (uint32_t{120} << 23)) >> 20);
}

void store_fp8(const StoreArgs& args) { store_position<uint8_t>(args, to_fp8); }

// Codes of kKvBlock numbers and their scale: the largest size over 127, as a half. A block with a
// number that is not finite becomes NaN as a whole.
uint16_t to_q8_0(const float* x, int8_t* codes) {
  F32 largest = F32::zero();
  F32 not_finite = F32::zero();
  for (size_t i = 0; i < kKvBlock; i += F32::kLanes) {
    largest = max(largest, abs(F32::load(x + i)));
    not_finite = fma(F32::load(x + i), F32::zero(), not_finite);
  }
  const bool is_finite = sum_lanes(not_finite) == 0;
  const uint16_t scale[F32::kLanes] = {is_finite ? to_f16(max_lanes(largest) / 127)
                                                 : uint16_t(0x7e00)};
  const float step = first_lane(F32::load_f16(scale));
  const F32 per_step = F32::splat(step > 0 ? 1 / step : 0);
  float rounded[kKvBlock];
  for (size_t i = 0; i < kKvBlock; i += F32::kLanes) {
    const F32 code = round_to_even(F32::load(x + i) * per_step);
    // A scale among the smallest halves may have been rounded down by a third.
    const F32 cut = max(code, F32::splat(-127));
    (F32::zero() - max(F32::zero() - cut, F32::splat(-127))).store(rounded + i);
  }
  for (size_t i = 0; i < kKvBlock; ++i) codes[i] = is_finite ? int8_t(rounded[i]) : int8_t(0);
  return scale[0];
}

void store_q8_0(const StoreArgs& args) {
  int8_t* const numbers = static_cast<int8_t*>(args.tile);
  uint16_t* const key_scales = reinterpret_cast<uint16_t*>(numbers + 2 * args.padded * kTile);
  uint16_t* const value_scales = key_scales + args.padded / kKvBlock * kTile;
  for (size_t d = 0; d < args.head_dim; d += kKvBlock) {
    int8_t k[kKvBlock];
    int8_t v[kKvBlock];
    const size_t scale = d / kKvBlock * kTile + args.position;
    key_scales[scale] = to_q8_0(args.k + d, k);
    value_scales[scale] = to_q8_0(args.v + d, v);
    for (size_t i = 0; i < kKvBlock; ++i) {
      numbers[key_place(args, d + i)] = k[i];
      numbers[value_place(args, d + i)] = v[i];
    }
  }
}
