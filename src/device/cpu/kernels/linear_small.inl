// Linear maps of formats with blocks of 32 inputs: Q8_0, and Q4_0, Q4_1, Q5_0, Q5_1. The products
// of a block are summed as integers; blocks in rising order, in one f32 sum an output. F is a
// packed block; SmallTile<F> is the same block decoded.

// Adds the products of one block of unsigned codes: sums[r][g].
template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_unsigned_codes(const F (&w)[groups], const Q8_0Panel& x,
                                             Ints (&sums)[rows][groups]) {
  constexpr size_t kRun = least(8, steps_before_scaling(F::kCodeMax));
  unroll<8 / kRun>([&](auto run) EVENER_INLINE {
    ProductSum products[rows][groups];
    unroll<rows * groups>(
        [&](auto i) EVENER_INLINE { products[i / groups][i % groups] = ProductSum::zero(); });
    unroll<kRun>([&](auto run_step) EVENER_INLINE {
      const size_t step = run * kRun + run_step;
      Bytes codes[groups];
      unroll<groups>([&](auto g) EVENER_INLINE { codes[g] = w[g].codes(step); });
      unroll<rows>([&](auto r) EVENER_INLINE {
        const Bytes four = Bytes::repeat_four(x.codes[step][r]);
        unroll<groups>([&](auto g) EVENER_INLINE {
          products[r][g] = add_products(products[r][g], codes[g], four);
        });
      });
    });
    unroll<rows * groups>([&](auto i) EVENER_INLINE {
      Ints& sum = sums[i / groups][i % groups];
      sum = add_unscaled(sum, products[i / groups][i % groups]);
    });
  });
}

template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_signed_codes(const F (&w)[groups], const Q8_0Panel& x,
                                           Ints (&sums)[rows][groups]) {
  unroll<8>([&](auto step) EVENER_INLINE {
    SignedCodes codes[groups];
    unroll<groups>([&](auto g) EVENER_INLINE { codes[g] = w[g].codes(step); });
    unroll<rows>([&](auto r) EVENER_INLINE {
      const Bytes four = Bytes::repeat_four(x.codes[step][r]);
      unroll<groups>([&](auto g) EVENER_INLINE {
        sums[r][g] = add_signed_products(sums[r][g], codes[g], four);
      });
    });
  });
}

// What a code must be lowered by, times the sum of the activations: where the sums begin.
template <int offset_log2>
EVENER_INLINE inline Ints minus_offset(int32_t sum) {
  if constexpr (offset_log2 < 0) return Ints::zero();
  return Ints::zero() - (Ints::splat(sum) << offset_log2);
}

template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_small_block(const F (&w)[groups], const Q8_0Panel& x,
                                          F32 (&totals)[rows][groups]) {
  using Kind = typename F::Kind;
  Ints sums[rows][groups];
  unroll<rows>([&](auto r) EVENER_INLINE {
    const Ints begin = minus_offset<Kind::kOffsetLog2>(x.sum[r]);
    unroll<groups>([&](auto g) EVENER_INLINE { sums[r][g] = begin; });
  });
  if constexpr (Kind::kSigned) {
    add_signed_codes<rows, groups>(w, x, sums);
  } else {
    add_unsigned_codes<rows, groups>(w, x, sums);
  }
  unroll<rows>([&](auto r) EVENER_INLINE {
    const F32 x_scale = F32::splat(x.scale[r]);
    unroll<groups>([&](auto g) EVENER_INLINE {
      F32& total = totals[r][g];
      total = fma(to_f32(sums[r][g]), w[g].scale() * x_scale, total);
      if constexpr (Kind::kHasMins) total = fma(w[g].min(), F32::splat(x.scaled_sum[r]), total);
    });
  });
}

template <class F, size_t rows>
void small_few(const LinearArgs& args, size_t group, size_t first_row) {
  const uint8_t* const w = group_of(args, group);
  const auto* const panel = panel_of_row<Q8_0Panel>(args, first_row);
  F32 totals[rows][1];
  unroll<rows>([&](auto r) EVENER_INLINE { totals[r][0] = F32::zero(); });
  for (size_t block = 0; block < args.inputs / 32; ++block) {
    const F block_of_group[1] = {F(w + block * F::kLaneBytes * kLanes)};
    prefetch_share(block_of_group[0], 0, 1);
    add_small_block<rows, 1>(block_of_group, panel[block], totals);
  }
  unroll<rows>([&](auto r)
                   EVENER_INLINE { store_outputs(args, first_row + r, group, totals[r][0]); });
}

template <class F>
void small_few_rows(const LinearArgs& args) {
  for_each_panel(
      args, [&](auto rows, size_t group, size_t row) { small_few<F, rows>(args, group, row); });
}

// A decoded block of kLanes outputs.
struct SmallTileData {
  uint8_t codes[8][4 * kLanes];
  float scale[kLanes];
  float min[kLanes];
};

template <class F>
struct SmallTile {
  using Kind = typename F::Kind;
  static constexpr size_t kCodeMax = F::kCodeMax;
  const SmallTileData* data;

  EVENER_INLINE F32 scale() const { return F32::load(data->scale); }
  EVENER_INLINE F32 min() const { return F32::load(data->min); }
  EVENER_INLINE typename Kind::Codes codes(size_t step) const {
    return Kind::Codes::load(data->codes[step]);
  }
};

template <class F>
void decode_block(const F& w, SmallTileData* tile) {
  unroll<8>([&](auto step) EVENER_INLINE { w.codes(step).store(tile->codes[step]); });
  w.scale().store(tile->scale);
  if constexpr (F::Kind::kHasMins) w.min().store(tile->min);
}

// Blocks of a tile: two groups of them stay in the first cache while all rows pass.
constexpr size_t kTileSmallBlocks = 32;

using SmallTilePair = SmallTileData[kTileGroups];

template <class F>
void small_tile(const SmallTilePair* tile, size_t num_blocks, const Q8_0Panel* panel,
                PanelSums& sums) {
  TileTotals totals;
  load_totals(sums, totals);
  for (size_t block = 0; block < num_blocks; ++block) {
    const SmallTile<F> w[kTileGroups] = {{&tile[block][0]}, {&tile[block][1]}};
    add_small_block<kPanelRows, kTileGroups>(w, panel[block], totals);
  }
  store_totals(totals, sums);
}

template <class F>
void small_many(const LinearArgs& args, size_t group, size_t other) {
  alignas(64) PanelSums sums[kTilePanels];
  alignas(64) SmallTilePair tile[kTileSmallBlocks];
  memset(sums, 0, num_panels(args) * sizeof sums[0]);
  for (size_t first = 0; first < args.inputs / 32; first += kTileSmallBlocks) {
    const size_t num_blocks = least(kTileSmallBlocks, args.inputs / 32 - first);
    for (size_t block = 0; block < num_blocks; ++block) {
      const size_t at = (first + block) * F::kLaneBytes * kLanes;
      decode_block(F(group_of(args, group) + at), &tile[block][0]);
      decode_block(F(group_of(args, other) + at), &tile[block][1]);
    }
    for (size_t panel = 0; panel < num_panels(args); ++panel) {
      const auto* const x = panel_of_row<Q8_0Panel>(args, panel * kPanelRows);
      small_tile<F>(tile, num_blocks, x + first, sums[panel]);
    }
  }
  store_tile(args, group, other, sums);
}

template <class F>
void small_many_rows(const LinearArgs& args) {
  for (size_t group = args.group_begin; group < args.group_end; group += kTileGroups) {
    small_many<F>(args, group, least(group + 1, args.group_end - 1));
  }
}
