// Linear maps of formats in which a float scale holds for 16 inputs or a few times 32: Q8_0, Q4_0,
// Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4, NVFP4, Q2_0, Q1_0. The products of a scale are summed as
// integers; scales in rising order, in one f32 sum an output. F is a panel's part, 32 inputs, of a
// packed block of kPanels of them; SmallTile<F> is the same decoded.

template <class F>
EVENER_INLINE inline F panel_weights(const uint8_t* group, size_t panel) {
  return F(group + panel / F::kPanels * F::kLaneBytes * kLanes, panel % F::kPanels);
}

// Adds the products of the steps of scale `index`: sums[r][g].
template <size_t index, size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_codes(const F (&w)[groups], const Q8_0Panel& x,
                                    Ints (&sums)[rows][groups]) {
  constexpr size_t kSteps = 8 / F::Kind::kScales;
  constexpr size_t kRun = steps_in_run(kSteps, F::kCodeMax);
  unroll<kSteps / kRun>([&](auto run) EVENER_INLINE {
    ProductSum products[rows][groups];
    unroll<rows * groups>(
        [&](auto i) EVENER_INLINE { products[i / groups][i % groups] = ProductSum::zero(); });
    unroll<kRun>([&](auto run_step) EVENER_INLINE {
      const size_t step = index * kSteps + run * kRun + run_step;
      typename F::Kind::Codes codes[groups];
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

// The sum of the activations that scale `index` of a panel holds for.
template <class Kind, size_t index>
EVENER_INLINE inline int32_t sum_of_activations(const Q8_0Panel& x, size_t row) {
  if constexpr (Kind::kScales == 1) return x.sum[row];
  return index == 0 ? x.half_sum[row] : x.sum[row] - x.half_sum[row];
}

template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_small_block(const F (&w)[groups], const Q8_0Panel& x,
                                          F32 (&totals)[rows][groups]) {
  using Kind = typename F::Kind;
  unroll<Kind::kScales>([&](auto index) EVENER_INLINE {
    Ints sums[rows][groups];
    unroll<rows>([&](auto r) EVENER_INLINE {
      Ints begin = Ints::zero();
      if constexpr (Kind::kOffset != 0) {
        begin = Ints::splat(-Kind::kOffset * sum_of_activations<Kind, index>(x, r));
      }
      unroll<groups>([&](auto g) EVENER_INLINE { sums[r][g] = begin; });
    });
    add_codes<index, rows, groups>(w, x, sums);
    unroll<rows>([&](auto r) EVENER_INLINE {
      const F32 x_scale = F32::splat(x.scale[r]);
      unroll<groups>([&](auto g) EVENER_INLINE {
        F32& total = totals[r][g];
        total = fma(to_f32(sums[r][g]), w[g].scale(index) * x_scale, total);
        if constexpr (Kind::kHasMins) total = fma(w[g].min(), F32::splat(x.scaled_sum[r]), total);
      });
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
    const F block_of_group[1] = {panel_weights<F>(w, block)};
    prefetch_share(block_of_group[0], block % F::kPanels, F::kPanels);
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

// The weights of a panel for kLanes outputs, decoded.
template <class F>
struct SmallTileData {
  uint8_t codes[8][F::Kind::Codes::kReadyBytes];
  float scale[F::Kind::kScales][kLanes];
  float min[kLanes];
};

template <class F>
struct SmallTile {
  using Kind = typename F::Kind;
  static constexpr size_t kCodeMax = F::kCodeMax;
  const SmallTileData<F>* data;

  EVENER_INLINE F32 scale(size_t index) const { return F32::load(data->scale[index]); }
  EVENER_INLINE F32 min() const { return F32::load(data->min); }
  EVENER_INLINE typename Kind::Codes codes(size_t step) const {
    return Kind::Codes::load_ready(data->codes[step]);
  }
};

template <class F>
void decode_panel(const F& w, SmallTileData<F>* tile) {
  unroll<8>([&](auto step) EVENER_INLINE { w.codes(step).store_ready(tile->codes[step]); });
  for (size_t i = 0; i < F::Kind::kScales; ++i) w.scale(i).store(tile->scale[i]);
  if constexpr (F::Kind::kHasMins) w.min().store(tile->min);
}

// Blocks of a tile: two groups of them stay in the first cache while all rows pass.
template <class F>
constexpr size_t kTileSmallBlocks = 128 * kLanes / F::Kind::Codes::kReadyBytes;

template <class F>
using SmallTilePair = SmallTileData<F>[kTileGroups];

template <class F>
void small_tile(const SmallTilePair<F>* tile, size_t num_blocks, const Q8_0Panel* panel,
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
  constexpr size_t kBlocks = kTileSmallBlocks<F>;
  alignas(64) PanelSums sums[kTilePanels];
  alignas(64) SmallTilePair<F> tile[kBlocks];
  memset(sums, 0, num_panels(args) * sizeof sums[0]);
  for (size_t first = 0; first < args.inputs / 32; first += kBlocks) {
    const size_t num_blocks = least(kBlocks, args.inputs / 32 - first);
    for (size_t block = 0; block < num_blocks; ++block) {
      decode_panel(panel_weights<F>(group_of(args, group), first + block), &tile[block][0]);
      decode_panel(panel_weights<F>(group_of(args, other), first + block), &tile[block][1]);
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
