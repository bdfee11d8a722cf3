// Linear maps of formats with blocks of 256 inputs and, mostly, integer sub-scales: Q2_K to Q6_K,
// IQ1 to IQ4_XS, TQ. The sums of products of a block are exact integers, so that only the order of
// blocks decides the bits of a result: it rises, in one f32 sum an output.
//
// A format F says where the codes and scales of a packed block lie; SuperTile<F> is the same block
// with everything laid out ready.

template <class F>
struct SuperShape {
  static constexpr size_t kSubs = 256 / F::kSubInputs;
  static constexpr size_t kParts = kSubs / F::kPartSubs;
  static constexpr size_t kSteps = F::kSubInputs / 4;
  static constexpr size_t kPairs = kSubs / 2;
  // Steps whose products are added before the sub-scale is applied.
  static constexpr size_t kRun = steps_in_run(kSteps, F::kCodeMax);
};

// Adds the products of one block, with their sub-scales: sums[r][g].
template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_block(const F (&w)[groups], const Q8_KPanel& x,
                                    Ints (&sums)[rows][groups]) {
  using Shape = SuperShape<F>;
  for (size_t part = 0; part < Shape::kParts; ++part) {
    unroll<F::kPartSubs>([&](auto sub) EVENER_INLINE {
      const size_t index = part * F::kPartSubs + sub;
      const size_t first_step = index * Shape::kSteps;
      if constexpr (F::kPacked) prefetch_share(w[0], index, Shape::kSubs);
      unroll<Shape::kSteps / Shape::kRun>([&](auto run) EVENER_INLINE {
        ProductSum products[rows][groups];
        unroll<rows * groups>(
            [&](auto i) EVENER_INLINE { products[i / groups][i % groups] = ProductSum::zero(); });
        unroll<Shape::kRun>([&](auto run_step) EVENER_INLINE {
          const size_t step = run * Shape::kRun + run_step;
          typename F::Codes codes[groups];
          unroll<groups>([&](auto g) EVENER_INLINE { codes[g] = w[g].codes(part, sub, step); });
          unroll<rows>([&](auto r) EVENER_INLINE {
            const Bytes four = Bytes::repeat_four(x.codes[first_step + step][r]);
            unroll<groups>([&](auto g) EVENER_INLINE {
              products[r][g] = add_products(products[r][g], codes[g], four);
            });
          });
        });
        unroll<groups>([&](auto g) EVENER_INLINE {
          const Scale scale = w[g].sub_scale(part, sub);
          unroll<rows>([&](auto r) EVENER_INLINE {
            sums[r][g] = add_scaled(sums[r][g], products[r][g], scale);
          });
        });
      });
    });
  }
}

// The sum over sub-blocks of minimum (or sub-scale) times the sum of the activations.
template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_offsets(const F (&w)[groups], const Q8_KPanel& x,
                                      Ints (&sums)[rows][groups]) {
  for (size_t pair = 0; pair < SuperShape<F>::kPairs; ++pair) {
    unroll<groups>([&](auto g) EVENER_INLINE {
      Pairs factors;
      if constexpr (F::kHasMins) {
        factors = w[g].sub_mins(pair);
      } else {
        factors = w[g].sub_scales(pair);
      }
      unroll<rows>([&](auto r) EVENER_INLINE {
        const auto& x_sums = F::kSubInputs == 32 ? x.sums32[pair][r] : x.sums16[pair][r];
        sums[r][g] = add_dot(sums[r][g], factors, Pairs::repeat(x_sums));
      });
    });
  }
}

// A code c stands for kCodeStep c - kOffset, or for c itself beside a minimum.
template <class F>
constexpr bool kHasOffsets = F::kHasMins || F::kOffset != 0;

template <class F>
EVENER_INLINE inline Ints sum_of_values(Ints sum, Ints offsets) {
  if constexpr (F::kCodeStep == 2) sum = sum + sum;
  if constexpr (!kHasOffsets<F>) return sum;
  return sum - times<F::kOffset>(offsets);
}

template <size_t rows, size_t groups, class F>
EVENER_INLINE inline void add_super_block(const F (&w)[groups], const Q8_KPanel& x,
                                          F32 (&totals)[rows][groups]) {
  Ints sums[rows][groups];
  Ints offsets[rows][groups];
  unroll<rows * groups>([&](auto i) EVENER_INLINE {
    sums[i / groups][i % groups] = Ints::zero();
    offsets[i / groups][i % groups] = Ints::zero();
  });
  if constexpr (kHasOffsets<F>) add_offsets<rows, groups>(w, x, offsets);
  add_block<rows, groups>(w, x, sums);
  unroll<rows>([&](auto r) EVENER_INLINE {
    const F32 x_scale = F32::splat(x.scale[r]);
    unroll<groups>([&](auto g) EVENER_INLINE {
      F32& total = totals[r][g];
      if constexpr (F::kHasMins) {
        total = fma(to_f32(sums[r][g]), w[g].scale() * x_scale, total);
        total = fma(to_f32(offsets[r][g]), w[g].min() * x_scale, total);
      } else {
        const Ints sum = sum_of_values<F>(sums[r][g], offsets[r][g]);
        total = fma(to_f32(sum), w[g].scale() * x_scale, total);
      }
    });
  });
}

// All blocks of one group for one panel.
template <class F, size_t rows>
void super_few(const LinearArgs& args, size_t group, size_t first_row) {
  const uint8_t* const w = group_of(args, group);
  const auto* const panel = panel_of_row<Q8_KPanel>(args, first_row);
  F32 totals[rows][1];
  unroll<rows>([&](auto r) EVENER_INLINE { totals[r][0] = F32::zero(); });
  for (size_t block = 0; block < args.inputs / 256; ++block) {
    const F block_of_group[1] = {F(w + block * F::kLaneBytes * kLanes)};
    add_super_block<rows, 1>(block_of_group, panel[block], totals);
  }
  unroll<rows>([&](auto r)
                   EVENER_INLINE { store_outputs(args, first_row + r, group, totals[r][0]); });
}

template <class F>
void super_few_rows(const LinearArgs& args) {
  for_each_panel(
      args, [&](auto rows, size_t group, size_t row) { super_few<F, rows>(args, group, row); });
}

// What a tile keeps of the codes of F: the same, unless F says otherwise.
template <class F>
struct TiledCodes {
  static constexpr size_t kCodeMax = F::kCodeMax;
  static constexpr int kCodeStep = F::kCodeStep;
  static constexpr int kOffset = F::kOffset;
  using Codes = typename F::Codes;

  EVENER_INLINE static Codes of(Codes codes) { return codes; }
};

template <class F>
  requires requires { typename F::Tiled; }
struct TiledCodes<F> : F::Tiled {};

// A decoded block of kLanes outputs, read as F is.
template <class F>
struct SuperTileData {
  uint8_t codes[64][TiledCodes<F>::Codes::kReadyBytes];
  int32_t sub_scale[SuperShape<F>::kSubs][kLanes];
  int32_t offset_factors[SuperShape<F>::kPairs][kLanes];
  float scale[kLanes];
  float min[kLanes];
};

template <class F>
struct SuperTile {
  static constexpr bool kPacked = false;
  static constexpr size_t kSubInputs = F::kSubInputs;
  static constexpr size_t kPartSubs = F::kSubInputs == 32 ? 2 : 4;
  static constexpr size_t kCodeMax = TiledCodes<F>::kCodeMax;
  static constexpr bool kHasMins = F::kHasMins;
  static constexpr int kCodeStep = TiledCodes<F>::kCodeStep;
  static constexpr int kOffset = TiledCodes<F>::kOffset;
  using Codes = typename TiledCodes<F>::Codes;
  const SuperTileData<F>* data;

  EVENER_INLINE F32 scale() const { return F32::load(data->scale); }
  EVENER_INLINE F32 min() const { return F32::load(data->min); }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return Pairs::load(data->offset_factors[pair]);
  }
  EVENER_INLINE Pairs sub_mins(size_t pair) const {
    return Pairs::load(data->offset_factors[pair]);
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return Scale::load(data->sub_scale[part * kPartSubs + sub]);
  }
  EVENER_INLINE Codes codes(size_t part, size_t sub, size_t step) const {
    return Codes::load_ready(data->codes[(part * kPartSubs + sub) * (kSubInputs / 4) + step]);
  }
};

template <class F>
void decode_block(const F& w, SuperTileData<F>* tile) {
  using Shape = SuperShape<F>;
  for (size_t part = 0; part < Shape::kParts; ++part) {
    unroll<F::kPartSubs>([&](auto sub) EVENER_INLINE {
      const size_t index = part * F::kPartSubs + sub;
      w.sub_scale(part, sub).store(tile->sub_scale[index]);
      unroll<Shape::kSteps>([&](auto step) EVENER_INLINE {
        const auto codes = TiledCodes<F>::of(w.codes(part, sub, step));
        codes.store_ready(tile->codes[index * Shape::kSteps + step]);
      });
    });
  }
  w.scale().store(tile->scale);
  if constexpr (F::kHasMins) {
    w.min().store(tile->min);
    for (size_t pair = 0; pair < Shape::kPairs; ++pair) {
      w.sub_mins(pair).store(tile->offset_factors[pair]);
    }
  } else if constexpr (kHasOffsets<SuperTile<F>>) {
    for (size_t pair = 0; pair < Shape::kPairs; ++pair) {
      w.sub_scales(pair).store(tile->offset_factors[pair]);
    }
  }
}

// Blocks of a tile: two groups of them stay in the first cache while all rows pass.
template <class F>
constexpr size_t kTileSuperBlocks = 16 * kLanes / TiledCodes<F>::Codes::kReadyBytes;

template <class F>
using SuperTilePair = SuperTileData<F>[kTileGroups];

template <class F>
void super_tile(const SuperTilePair<F>* tile, size_t num_blocks, const Q8_KPanel* panel,
                PanelSums& sums) {
  TileTotals totals;
  load_totals(sums, totals);
  for (size_t block = 0; block < num_blocks; ++block) {
    const SuperTile<F> w[kTileGroups] = {{&tile[block][0]}, {&tile[block][1]}};
    add_super_block<kPanelRows, kTileGroups>(w, panel[block], totals);
  }
  store_totals(totals, sums);
}

template <class F>
void super_many(const LinearArgs& args, size_t group, size_t other) {
  constexpr size_t kBlocks = kTileSuperBlocks<F>;
  alignas(64) PanelSums sums[kTilePanels];
  alignas(64) SuperTilePair<F> tile[kBlocks];
  memset(sums, 0, num_panels(args) * sizeof sums[0]);
  for (size_t first = 0; first < args.inputs / 256; first += kBlocks) {
    const size_t num_blocks = least(kBlocks, args.inputs / 256 - first);
    for (size_t block = 0; block < num_blocks; ++block) {
      const size_t at = (first + block) * F::kLaneBytes * kLanes;
      decode_block(F(group_of(args, group) + at), &tile[block][0]);
      decode_block(F(group_of(args, other) + at), &tile[block][1]);
    }
    for (size_t panel = 0; panel < num_panels(args); ++panel) {
      const auto* const x = panel_of_row<Q8_KPanel>(args, panel * kPanelRows);
      super_tile<F>(tile, num_blocks, x + first, sums[panel]);
    }
  }
  store_tile(args, group, other, sums);
}

template <class F>
void super_many_rows(const LinearArgs& args) {
  for (size_t group = args.group_begin; group < args.group_end; group += kTileGroups) {
    super_many<F>(args, group, least(group + 1, args.group_end - 1));
  }
}
