// What every linear kernel does with its sums: kLanes outputs of a row go to y with the bias, and
// outputs that only fill up the last group stay away.

// Panels of the rows that share a decoded tile of weights.
constexpr size_t kTilePanels = kTileRows / kPanelRows;

// Groups that are computed together in many_rows: with four rows their sums fill the registers.
constexpr size_t kTileGroups = 2;

void store_outputs(const LinearArgs& args, size_t row, size_t group, F32 sum) {
  const size_t output = group * kLanes;
  float* const y = args.y + row * args.y_stride + output;
  const size_t left = args.outputs - output;
  if (left >= kLanes) {
    if (args.bias != nullptr) sum = sum + F32::load(args.bias + output);
    sum.store(y);
  } else {
    if (args.bias != nullptr) sum = sum + F32::load_first(args.bias + output, left);
    sum.store_first(y, left);
  }
}

// Sums of all rows of a tile of two groups, panel by panel.
using PanelSums = float[kPanelRows][kTileGroups][kLanes];

// `other` may be `group`: the last one of an odd number.
void store_tile(const LinearArgs& args, size_t group, size_t other, const PanelSums* sums) {
  for (size_t row = 0; row < args.rows; ++row) {
    const auto& of_row = sums[row / kPanelRows][row % kPanelRows];
    store_outputs(args, row, group, F32::load(of_row[0]));
    if (other != group) store_outputs(args, row, other, F32::load(of_row[1]));
  }
}

using TileTotals = F32[kPanelRows][kTileGroups];

EVENER_INLINE inline void load_totals(const PanelSums& sums, TileTotals& totals) {
  unroll<kPanelRows>([&](auto r) EVENER_INLINE {
    unroll<kTileGroups>([&](auto g) EVENER_INLINE { totals[r][g] = F32::load(sums[r][g]); });
  });
}

EVENER_INLINE inline void store_totals(const TileTotals& totals, PanelSums& sums) {
  unroll<kPanelRows>([&](auto r) EVENER_INLINE {
    unroll<kTileGroups>([&](auto g) EVENER_INLINE { totals[r][g].store(sums[r][g]); });
  });
}

constexpr size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Of `steps`, a power of two, those whose products are added in 16 bits: a power of two as well.
constexpr size_t steps_in_run(size_t steps, size_t code_max) {
  while (steps > steps_before_scaling(code_max)) steps /= 2;
  return steps;
}

// a * factor, for factors up to 128.
template <int factor>
EVENER_INLINE inline Ints times(Ints a) {
  if constexpr ((factor & (factor - 1)) != 0) return a * Ints::splat(factor);
  return a << __builtin_ctz(factor);
}

size_t num_panels(const LinearArgs& args) { return (args.rows + kPanelRows - 1) / kPanelRows; }

template <class Panel>
const Panel* panel_of_row(const LinearArgs& args, size_t row) {
  return reinterpret_cast<const Panel*>(static_cast<const uint8_t*>(args.activations) +
                                        row / kPanelRows * args.panel_bytes);
}

const uint8_t* group_of(const LinearArgs& args, size_t group) {
  return static_cast<const uint8_t*>(args.weights) + group * args.group_bytes;
}

// Asks for a share of what lies kPrefetchBytes behind a block: the processor's own prefetching
// leaves a third of the memory's speed unused when so much is done with each line. In shares,
// because asking for many lines at once blocks the reads that are needed now. Groups follow each
// other, so this goes on into the next one; beyond the last one it does nothing.
constexpr size_t kPrefetchBytes = 2048;

template <class F>
EVENER_INLINE inline void prefetch_share(const F& w, size_t share, size_t num_shares) {
  constexpr size_t kLines = (F::kLaneBytes * kLanes + 63) / 64;
  const auto* const later = reinterpret_cast<const char*>(w.block) + kPrefetchBytes;
  const size_t end = (share + 1) * kLines / num_shares;
  for (size_t line = share * kLines / num_shares; line < end; ++line) {
    _mm_prefetch(later + 64 * line, _MM_HINT_T0);
  }
}

// kernel(Constant<rows of a panel>, group, first row) for each panel and every `groups` groups.
template <size_t groups = 1, class Kernel>
EVENER_INLINE inline void for_each_panel(const LinearArgs& args, Kernel kernel) {
  for (size_t group = args.group_begin; group < args.group_end; group += groups) {
    for (size_t row = 0; row < args.rows; row += kPanelRows) {
      switch (args.rows - row) {
        case 1:
          kernel(Constant<1>(), group, row);
          break;
        case 2:
          kernel(Constant<2>(), group, row);
          break;
        case 3:
          kernel(Constant<3>(), group, row);
          break;
        default:
          kernel(Constant<4>(), group, row);
          break;
      }
    }
  }
}
