// Causal attention over a tiled KV cache, with a running softmax over blocks of absolute positions.
// Needs elementwise.inl.
//
// A tile holds its keys channel by channel, [padded][kTile], so that a vector holds the scores of
// neighbouring positions and no sum crosses lanes; and its values in strips of kTile channels,
// [padded / kTile][kTile positions][kTile], so that a strip streams while its sum stays in
// registers. Each score is one chain over the channels and each output one chain over the
// positions, however many rows or tiles are in flight.

constexpr size_t kTileVecs = kTile / F32::kLanes;
constexpr size_t kBlockTiles = kSoftmaxBlock / kTile;

// With more rows than this, a tile in halves is turned into floats once for all of them.
constexpr size_t kRowsUnconverted = 4;

F32 load_lanes(const float* p) { return F32::load(p); }
F32 load_lanes(const uint16_t* p) { return F32::load_f16(p); }

// scores[r][tile][position] = q[r] . k for kRows rows and kTiles tiles. Rows of q lie `padded`
// floats apart, rows of scores kSoftmaxBlock.
template <size_t kRows, size_t kTiles, class T>
void score_rows(const float* q, const T* const* tiles, size_t padded, float* scores) {
  F32 sums[kRows][kTiles][kTileVecs];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t t = 0; t < kTiles; ++t) {
      for (size_t v = 0; v < kTileVecs; ++v) sums[r][t][v] = F32::zero();
    }
  }
  for (size_t d = 0; d < padded; ++d) {
    for (size_t t = 0; t < kTiles; ++t) {
      for (size_t v = 0; v < kTileVecs; ++v) {
        const F32 keys = load_lanes(tiles[t] + d * kTile + v * F32::kLanes);
        for (size_t r = 0; r < kRows; ++r) {
          sums[r][t][v] = fma(F32::splat(q[r * padded + d]), keys, sums[r][t][v]);
        }
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t t = 0; t < kTiles; ++t) {
      for (size_t v = 0; v < kTileVecs; ++v) {
        sums[r][t][v].store(scores + r * kSoftmaxBlock + t * kTile + v * F32::kLanes);
      }
    }
  }
}

// kTiles at a time while they last, then one by one.
template <size_t kRows, size_t kTiles, class T>
void score_tiles(const float* q, const T* const* tiles, size_t num_tiles, size_t padded,
                 float* scores) {
  size_t t = 0;
  for (; t + kTiles <= num_tiles; t += kTiles) {
    score_rows<kRows, kTiles>(q, tiles + t, padded, scores + t * kTile);
  }
  for (; t < num_tiles; ++t) score_rows<kRows, 1>(q, tiles + t, padded, scores + t * kTile);
}

template <class T>
void score_block(const float* q, size_t rows, const T* const* tiles, size_t num_tiles,
                 size_t padded, float* scores) {
  size_t r = 0;
  // Tile by tile: with many rows it is the tile that stays in the cache.
  for (size_t t = 0; t < num_tiles; ++t) {
    for (r = 0; r + 4 <= rows; r += 4) {
      score_rows<4, 1>(q + r * padded, tiles + t, padded, scores + r * kSoftmaxBlock + t * kTile);
    }
  }
  r = rows / 4 * 4;
  q += r * padded;
  scores += r * kSoftmaxBlock;
  if (rows - r >= 2) {
    score_tiles<2, 2>(q, tiles, num_tiles, padded, scores);
    q += 2 * padded;
    scores += 2 * kSoftmaxBlock;
    r += 2;
  }
  if (rows > r) score_tiles<1, 4>(q, tiles, num_tiles, padded, scores);
}

// The scores of one row become weights relative to the new running maximum. `count` of them are
// valid; those behind, up to the tile's end, become 0.
void softmax_row(float* scores, size_t count, float* max_so_far, float* sum, float* acc,
                 size_t padded) {
  const size_t end = (count + kTile - 1) / kTile * kTile;
  for (size_t i = count; i < end; ++i) scores[i] = -INFINITY;
  F32 top = F32::load(scores);
  for (size_t i = F32::kLanes; i < end; i += F32::kLanes) top = max(top, F32::load(scores + i));
  const float block_max = max_lanes(top);

  if (!(block_max <= *max_so_far)) {
    const F32 factor = exp_nonpositive(F32::splat(*max_so_far - block_max));
    *max_so_far = block_max;
    *sum *= first_lane(factor);
    for (size_t i = 0; i < padded; i += F32::kLanes) (F32::load(acc + i) * factor).store(acc + i);
  }
  const F32 reference = F32::splat(*max_so_far);
  F32 total = F32::zero();
  for (size_t i = 0; i < end; i += F32::kLanes) {
    const F32 weight = exp_nonpositive(F32::load(scores + i) - reference);
    weight.store(scores + i);
    total = total + weight;
  }
  *sum += sum_lanes(total);
}

// acc[r][strip] += sum of weights[r][s] v[s] over s in [begin, end), for kRows rows and kStrips
// strips of channels.
template <size_t kRows, size_t kStrips, class T>
void weigh_rows(const float* weights, const T* const* tiles, size_t strip, size_t begin, size_t end,
                size_t padded, float* acc) {
  F32 sums[kRows][kStrips][kTileVecs];
  acc += strip * kTile;
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kStrips * kTileVecs; ++c) {
      sums[r][c / kTileVecs][c % kTileVecs] = F32::load(acc + r * padded + c * F32::kLanes);
    }
  }
  for (size_t s = begin; s < end; ++s) {
    const T* const values = tiles[s / kTile] + (padded + strip * kTile + s % kTile) * kTile;
    for (size_t c = 0; c < kStrips; ++c) {
      for (size_t v = 0; v < kTileVecs; ++v) {
        const F32 value = load_lanes(values + c * kTile * kTile + v * F32::kLanes);
        for (size_t r = 0; r < kRows; ++r) {
          sums[r][c][v] = fma(F32::splat(weights[r * kSoftmaxBlock + s]), value, sums[r][c][v]);
        }
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kStrips * kTileVecs; ++c) {
      sums[r][c / kTileVecs][c % kTileVecs].store(acc + r * padded + c * F32::kLanes);
    }
  }
}

// kRows rows over the positions that all of them see, then each over the rest of its own.
template <size_t kRows, size_t kStrips, class T>
void weigh_ragged(const float* weights, const T* const* tiles, size_t strip, const size_t* counts,
                  size_t padded, float* acc) {
  weigh_rows<kRows, kStrips>(weights, tiles, strip, 0, counts[0], padded, acc);
  for (size_t r = 1; r < kRows; ++r) {
    if (counts[r] == counts[0]) continue;
    weigh_rows<1, kStrips>(weights + r * kSoftmaxBlock, tiles, strip, counts[0], counts[r], padded,
                           acc + r * padded);
  }
}

// kStrips at a time while they last, then one by one.
template <size_t kRows, size_t kStrips, class T>
void weigh_strips(const float* weights, const T* const* tiles, const size_t* counts, size_t padded,
                  float* acc) {
  size_t strip = 0;
  for (; strip + kStrips <= padded / kTile; strip += kStrips) {
    weigh_ragged<kRows, kStrips>(weights, tiles, strip, counts, padded, acc);
  }
  for (; strip < padded / kTile; ++strip) {
    weigh_ragged<kRows, 1>(weights, tiles, strip, counts, padded, acc);
  }
}

// counts[r] rises with r.
template <class T>
void weigh_block(const float* weights, size_t rows, const T* const* tiles, const size_t* counts,
                 size_t padded, float* acc) {
  for (size_t strip = 0; strip < padded / kTile; ++strip) {
    for (size_t r = 0; r + 4 <= rows; r += 4) {
      weigh_ragged<4, 1>(weights + r * kSoftmaxBlock, tiles, strip, counts + r, padded,
                         acc + r * padded);
    }
  }
  size_t r = rows / 4 * 4;
  if (rows - r >= 2) {
    weigh_strips<2, 2>(weights + r * kSoftmaxBlock, tiles, counts + r, padded, acc + r * padded);
    r += 2;
  }
  if (r < rows) {
    weigh_strips<1, 4>(weights + r * kSoftmaxBlock, tiles, counts + r, padded, acc + r * padded);
  }
}

// The tiles of one block, and the rows that see any of it.
template <class T>
struct Block {
  const T* tiles[kBlockTiles];
  size_t num_tiles;
};

template <class T>
void attend_block(const AttentionArgs& args, const Block<T>& block, size_t begin, size_t first_row,
                  size_t* counts, float* scores) {
  const size_t rows = args.tokens * args.group - first_row;
  const AttentionState out = {args.out.max + first_row, args.out.sum + first_row,
                              args.out.acc + first_row * args.padded};
  score_block(args.q + first_row * args.padded, rows, block.tiles, block.num_tiles, args.padded,
              scores);
  for (size_t r = 0; r < rows; ++r) {
    const size_t seen = args.first_position + (first_row + r) / args.group + 1 - begin;
    counts[r] = seen < kSoftmaxBlock ? seen : kSoftmaxBlock;
    softmax_row(scores + r * kSoftmaxBlock, counts[r], out.max + r, out.sum + r,
                out.acc + r * args.padded, args.padded);
  }
  weigh_block(scores, rows, block.tiles, counts, args.padded, out.acc);
}

template <class T>
Block<T> find_tiles(const AttentionArgs& args, size_t begin) {
  const size_t end = args.end - begin < kSoftmaxBlock ? args.end : begin + kSoftmaxBlock;
  const size_t tile_elements = 2 * args.padded * kTile;
  Block<T> block;
  block.num_tiles = 0;
  for (size_t p = begin; p < end; p += kTile) {
    const size_t tile = p / kTile;
    const size_t page = size_t(args.pages[tile / args.page_tiles]);
    block.tiles[block.num_tiles++] = static_cast<const T*>(args.tiles) + page * args.page_elements +
                                     tile % args.page_tiles * tile_elements;
  }
  return block;
}

Block<float> convert_tiles(const Block<uint16_t>& halves, size_t tile_elements, float* room) {
  Block<float> block;
  block.num_tiles = halves.num_tiles;
  for (size_t t = 0; t < halves.num_tiles; ++t) {
    float* const tile = room + t * tile_elements;
    for (size_t i = 0; i < tile_elements; i += F32::kLanes) {
      F32::load_f16(halves.tiles[t] + i).store(tile + i);
    }
    block.tiles[t] = tile;
  }
  return block;
}

// Rows of tokens that stand before `begin` see nothing of the block.
size_t first_row_at(const AttentionArgs& args, size_t begin) {
  return begin > args.first_position ? (begin - args.first_position) * args.group : 0;
}

void start_attention(const AttentionArgs& args) {
  const size_t rows = args.tokens * args.group;
  for (size_t r = 0; r < rows; ++r) args.out.max[r] = -INFINITY;
  for (size_t r = 0; r < rows; ++r) args.out.sum[r] = 0;
  memset(args.out.acc, 0, rows * args.padded * sizeof(float));
}

void attend_f16(const AttentionArgs& args) {
  const size_t rows = args.tokens * args.group;
  const size_t tile_elements = 2 * args.padded * kTile;
  float* const scores = args.scratch;
  float* const tiles = scores + rows * kSoftmaxBlock;
  size_t* const counts = reinterpret_cast<size_t*>(tiles + kBlockTiles * tile_elements);
  start_attention(args);
  for (size_t begin = args.begin; begin < args.end; begin += kSoftmaxBlock) {
    const size_t first_row = first_row_at(args, begin);
    const Block<uint16_t> halves = find_tiles<uint16_t>(args, begin);
    if (rows - first_row <= kRowsUnconverted) {
      attend_block(args, halves, begin, first_row, counts, scores);
    } else {
      attend_block(args, convert_tiles(halves, tile_elements, tiles), begin, first_row, counts,
                   scores);
    }
  }
}

void attend_f32(const AttentionArgs& args) {
  float* const scores = args.scratch;
  size_t* const counts =
      reinterpret_cast<size_t*>(scores + args.tokens * args.group * kSoftmaxBlock);
  start_attention(args);
  for (size_t begin = args.begin; begin < args.end; begin += kSoftmaxBlock) {
    attend_block(args, find_tiles<float>(args, begin), begin, first_row_at(args, begin), counts,
                 scores);
  }
}

// A row that has seen nothing yet (maximum -infinity) takes the other's sums as they are.
void merge_attention(const AttentionState& into, const AttentionState& from, size_t rows,
                     size_t padded) {
  for (size_t r = 0; r < rows; ++r) {
    if (from.max[r] == -INFINITY) continue;
    const float top = from.max[r] > into.max[r] ? from.max[r] : into.max[r];
    const F32 keep = exp_nonpositive(F32::splat(into.max[r] - top));
    const F32 take = exp_nonpositive(F32::splat(from.max[r] - top));
    into.max[r] = top;
    into.sum[r] = into.sum[r] * first_lane(keep) + from.sum[r] * first_lane(take);
    for (size_t i = r * padded; i < (r + 1) * padded; i += F32::kLanes) {
      const F32 kept = F32::load(into.acc + i) * keep;
      fma(F32::load(from.acc + i), take, kept).store(into.acc + i);
    }
  }
}

void finish_attention(const float* acc, float sum, float* y, size_t n) {
  const F32 scale = F32::splat(1 / sum);
  map(acc, acc, y, n, [scale](F32 v, F32) { return v * scale; });
}

// Keys one by one down a column of the tile, values into a row of each strip.
template <class T, class Convert>
void store_position(const StoreArgs& args, Convert convert) {
  T* const keys = static_cast<T*>(args.tile) + args.position;
  T* const values = static_cast<T*>(args.tile) + (args.padded + args.position) * kTile;
  for (size_t d = 0; d < args.head_dim; ++d) {
    keys[d * kTile] = convert(args.k[d]);
    values[d / kTile * kTile * kTile + d % kTile] = convert(args.v[d]);
  }
}

void store_f32(const StoreArgs& args) {
  store_position<float>(args, [](float x) { return x; });
}

void store_f16(const StoreArgs& args) {
  store_position<uint16_t>(args, [](float x) { return to_f16(x); });
}
