// Linear maps of float weights; activations stay f32. Packed: [input][lane]. Inputs are taken one
// by one in rising order, kFloatRun of them into one sum; the sums of the runs are added in order.
constexpr size_t kFloatRun = 256;

struct F32Weights {
  static constexpr size_t kLaneBytes = 4;
  EVENER_INLINE static F32 load(const uint8_t* p) {
    return F32::load(reinterpret_cast<const float*>(p));
  }
};

struct F16Weights {
  static constexpr size_t kLaneBytes = 2;
  EVENER_INLINE static F32 load(const uint8_t* p) {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(p));
  }
};

struct Bf16Weights {
  static constexpr size_t kLaneBytes = 2;
  EVENER_INLINE static F32 load(const uint8_t* p) {
    return load_bf16(reinterpret_cast<const uint16_t*>(p));
  }
};

const float* row_of(const LinearArgs& args, size_t row) {
  return reinterpret_cast<const float*>(static_cast<const uint8_t*>(args.activations) +
                                        row * args.panel_bytes);
}

// The sums of `runs` runs of num_inputs inputs each, which are in flight together and are added in
// order: totals[r][g] += sum over i of w[g][i] x[r][i].
template <class F, size_t runs, size_t rows, size_t groups>
EVENER_INLINE inline void add_float_runs(const uint8_t* const (&w)[groups],
                                         const float* const (&x)[rows], size_t num_inputs,
                                         F32 (&totals)[rows][groups]) {
  constexpr size_t kSums = rows * groups;
  F32 sums[runs][rows][groups];
  unroll<runs * kSums>(
      [&](auto i) EVENER_INLINE { sums[i / kSums][i % kSums / groups][i % groups] = F32::zero(); });
  for (size_t input = 0; input < num_inputs; ++input) {
    unroll<runs>([&](auto run) EVENER_INLINE {
      const size_t at = run * kFloatRun + input;
      F32 weights[groups];
      unroll<groups>(
          [&](auto g) EVENER_INLINE { weights[g] = F::load(w[g] + at * F::kLaneBytes * kLanes); });
      unroll<rows>([&](auto r) EVENER_INLINE {
        const F32 value = F32::splat(x[r][at]);
        unroll<groups>([&](auto g) EVENER_INLINE {
          F32& sum = sums[run][r][g];
          sum = fma(weights[g], value, sum);
        });
      });
    });
  }
  unroll<runs * kSums>([&](auto i) EVENER_INLINE {
    F32& total = totals[i % kSums / groups][i % groups];
    total = total + sums[i / kSums][i % kSums / groups][i % groups];
  });
}

// Sums in flight: a fused multiply-add takes four cycles, and two can begin in each.
// weights are widened.
constexpr size_t kFloatSums = 8;

template <class F, size_t rows, size_t groups>
EVENER_INLINE inline void float_few(const LinearArgs& args, size_t group, size_t first_row) {
  constexpr size_t kRuns =
      least(rows * groups, kFloatSums) == kFloatSums ? 1 : kFloatSums / (rows * groups);
  F32 totals[rows][groups];
  unroll<rows * groups>([&](auto i)
                            EVENER_INLINE { totals[i / groups][i % groups] = F32::zero(); });
  const auto add_runs = [&](auto runs, size_t first, size_t num_inputs) EVENER_INLINE {
    const uint8_t* w[groups];
    unroll<groups>([&](auto g) EVENER_INLINE {
      w[g] = group_of(args, group + g) + first * F::kLaneBytes * kLanes;
    });
    const float* x[rows];
    unroll<rows>([&](auto r) EVENER_INLINE { x[r] = row_of(args, first_row + r) + first; });
    add_float_runs<F, runs>(w, x, num_inputs, totals);
  };
  size_t first = 0;
  for (; first + kRuns * kFloatRun <= args.inputs; first += kRuns * kFloatRun) {
    add_runs(Constant<kRuns>(), first, kFloatRun);
  }
  for (; first < args.inputs; first += kFloatRun) {
    add_runs(Constant<1>(), first, least(kFloatRun, args.inputs - first));
  }
  unroll<rows * groups>([&](auto i) EVENER_INLINE {
    store_outputs(args, first_row + i / groups, group + i % groups, totals[i / groups][i % groups]);
  });
}

template <class F>
void float_few_rows(const LinearArgs& args) {
  for_each_panel<2>(args, [&](auto rows, size_t group, size_t row) {
    if (group + 1 < args.group_end) {
      float_few<F, rows, 2>(args, group, row);
    } else {
      float_few<F, rows, 1>(args, group, row);
    }
  });
}

using FloatTilePair = float[kTileGroups][kLanes];

// The last row stands in for rows that are missing in its panel.
void float_tile(const FloatTilePair* tile, size_t num_inputs, const float* const (&x)[kPanelRows],
                PanelSums& sums) {
  TileTotals totals;
  load_totals(sums, totals);
  F32 run[kPanelRows][kTileGroups];
  unroll<kPanelRows * kTileGroups>(
      [&](auto i) EVENER_INLINE { run[i / kTileGroups][i % kTileGroups] = F32::zero(); });
  for (size_t input = 0; input < num_inputs; ++input) {
    const F32 weights[kTileGroups] = {F32::load(tile[input][0]), F32::load(tile[input][1])};
    unroll<kPanelRows>([&](auto r) EVENER_INLINE {
      const F32 value = F32::splat(x[r][input]);
      unroll<kTileGroups>([&](auto g)
                              EVENER_INLINE { run[r][g] = fma(weights[g], value, run[r][g]); });
    });
  }
  unroll<kPanelRows * kTileGroups>([&](auto i) EVENER_INLINE {
    F32& total = totals[i / kTileGroups][i % kTileGroups];
    total = total + run[i / kTileGroups][i % kTileGroups];
  });
  store_totals(totals, sums);
}

template <class F>
void float_many(const LinearArgs& args, size_t group, size_t other) {
  alignas(64) PanelSums sums[kTilePanels];
  alignas(64) FloatTilePair tile[kFloatRun];
  memset(sums, 0, num_panels(args) * sizeof sums[0]);
  for (size_t first = 0; first < args.inputs; first += kFloatRun) {
    const size_t num_inputs = least(kFloatRun, args.inputs - first);
    for (size_t i = 0; i < num_inputs; ++i) {
      const size_t at = (first + i) * F::kLaneBytes * kLanes;
      F::load(group_of(args, group) + at).store(tile[i][0]);
      F::load(group_of(args, other) + at).store(tile[i][1]);
    }
    for (size_t panel = 0; panel < num_panels(args); ++panel) {
      const float* x[kPanelRows];
      for (size_t r = 0; r < kPanelRows; ++r) {
        x[r] = row_of(args, least(panel * kPanelRows + r, args.rows - 1)) + first;
      }
      float_tile(tile, num_inputs, x, sums[panel]);
    }
  }
  store_tile(args, group, other, sums);
}

template <class F>
void float_many_rows(const LinearArgs& args) {
  for (size_t group = args.group_begin; group < args.group_end; group += kTileGroups) {
    float_many<F>(args, group, least(group + 1, args.group_end - 1));
  }
}
