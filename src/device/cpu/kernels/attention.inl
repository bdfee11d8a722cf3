// Causal attention over a tiled KV cache, with a running softmax over blocks of absolute positions.
// Needs kv_tiles.inl.
//
// Each score is one chain over the channels, or over blocks of them where each has a scale, and
// each output one chain over the positions, however many rows or tiles are in flight.

constexpr size_t kBlockTiles = kSoftmaxBlock / kTile;

// Rows and tiles (or strips) that many rows take at once: as many sums as keep two multipliers busy
// for the four or five cycles that each takes, and no more than there are registers. Six rows with
// AVX2 were slower than four by a third: what the compiler made of them did not fit.
constexpr bool kWide = kTileVecs == 1;  // a register holds a row of a tile, and there are 32
constexpr size_t kRowsAtOnce = kWide ? 8 : 4;
constexpr size_t kStripsAtOnce = kWide ? 2 : 1;
// With scales, the sums of a block of channels stand beside those of the row.
template <class Tile>
constexpr size_t kTilesAtOnce = Tile::kScaled ? 1 : kStripsAtOnce;

// Sums of kRows rows and kTiles tiles.
template <size_t kRows, size_t kTiles>
struct Scores {
  F32 of[kRows][kTiles][kTileVecs];

  Scores() {
    for (size_t i = 0; i < kRows * kTiles * kTileVecs; ++i) (&of[0][0][0])[i] = F32::zero();
  }
};

// sums[r][tile] += q[r] . k over the channels [begin, end). Rows of q lie `padded` floats apart.
template <size_t kRows, size_t kTiles, class Tile>
EVENER_INLINE inline void score_channels(const float* q, const Tile* tiles, size_t padded,
                                         size_t begin, size_t end, Scores<kRows, kTiles>& sums) {
  for (size_t d = begin; d < end; ++d) {
    for (size_t t = 0; t < kTiles; ++t) {
      const TileRow keys = tiles[t].keys(d);
      for (size_t v = 0; v < kTileVecs; ++v) {
        for (size_t r = 0; r < kRows; ++r) {
          sums.of[r][t][v] = fma(F32::splat(q[r * padded + d]), keys.v[v], sums.of[r][t][v]);
        }
      }
    }
  }
}

// The same of one block of channels, times its scales.
template <size_t kRows, size_t kTiles, class Tile>
EVENER_INLINE inline void score_scaled(const float* q, const Tile* tiles, size_t padded,
                                       size_t block, Scores<kRows, kTiles>& sums) {
  Scores<kRows, kTiles> parts;
  score_channels(q, tiles, padded, block * kKvBlock, (block + 1) * kKvBlock, parts);
  for (size_t t = 0; t < kTiles; ++t) {
    const TileRow scales = tiles[t].key_scales(block);
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < kTileVecs; ++v) {
        sums.of[r][t][v] = fma(parts.of[r][t][v], scales.v[v], sums.of[r][t][v]);
      }
    }
  }
}

// scores[r][tile][position] = q[r] . k. Rows of scores lie kSoftmaxBlock floats apart.
template <size_t kRows, size_t kTiles, class Tile>
void score_rows(const float* q, const Tile* tiles, size_t padded, float* scores) {
  Scores<kRows, kTiles> sums;
  if constexpr (Tile::kScaled) {
    for (size_t b = 0; b < padded / kKvBlock; ++b) score_scaled(q, tiles, padded, b, sums);
  } else {
    score_channels(q, tiles, padded, 0, padded, sums);
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t t = 0; t < kTiles; ++t) {
      for (size_t v = 0; v < kTileVecs; ++v) {
        sums.of[r][t][v].store(scores + r * kSoftmaxBlock + t * kTile + v * F32::kLanes);
      }
    }
  }
}

// kTiles at a time while they last, then one by one.
template <size_t kRows, size_t kTiles, class Tile>
void score_tiles(const float* q, const Tile* tiles, size_t num_tiles, size_t padded,
                 float* scores) {
  size_t t = 0;
  for (; t + kTiles <= num_tiles; t += kTiles) {
    score_rows<kRows, kTiles>(q, tiles + t, padded, scores + t * kTile);
  }
  for (; t < num_tiles; ++t) score_rows<kRows, 1>(q, tiles + t, padded, scores + t * kTile);
}

// As many times kRows rows as there are; the result is how many rows that is. Tile by tile: with
// many rows it is the tile that stays in the cache.
template <size_t kRows, size_t kTiles, class Tile>
size_t score_many(const float* q, size_t rows, const Tile* tiles, size_t num_tiles, size_t padded,
                  float* scores) {
  for (size_t t = 0; t < num_tiles; t += kTiles) {
    const size_t count = num_tiles - t < kTiles ? num_tiles - t : kTiles;
    for (size_t r = 0; r + kRows <= rows; r += kRows) {
      score_tiles<kRows, kTiles>(q + r * padded, tiles + t, count, padded,
                                 scores + r * kSoftmaxBlock + t * kTile);
    }
  }
  return rows / kRows * kRows;
}

template <class Tile>
void score_block(const float* q, size_t rows, const Tile* tiles, size_t num_tiles, size_t padded,
                 float* scores) {
  size_t r = score_many<kRowsAtOnce, kTilesAtOnce<Tile>>(q, rows, tiles, num_tiles, padded, scores);
  r += score_many<4, kTilesAtOnce<Tile>>(q + r * padded, rows - r, tiles, num_tiles, padded,
                                         scores + r * kSoftmaxBlock);
  if (rows - r >= 2) {
    score_tiles<2, 2>(q + r * padded, tiles, num_tiles, padded, scores + r * kSoftmaxBlock);
    r += 2;
  }
  if (rows > r) {
    score_tiles<1, 4>(q + r * padded, tiles, num_tiles, padded, scores + r * kSoftmaxBlock);
  }
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
template <size_t kRows, size_t kStrips, class Tile>
void weigh_rows(const float* weights, const Tile* tiles, size_t strip, size_t begin, size_t end,
                size_t padded, float* acc) {
  F32 sums[kRows][kStrips][kTileVecs];
  acc += strip * kTile;
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kStrips * kTileVecs; ++c) {
      sums[r][c / kTileVecs][c % kTileVecs] = F32::load(acc + r * padded + c * F32::kLanes);
    }
  }
  for (size_t s = begin; s < end; ++s) {
    for (size_t c = 0; c < kStrips; ++c) {
      const TileRow values = tiles[s / kTile].values((strip + c) * kTile + s % kTile);
      for (size_t v = 0; v < kTileVecs; ++v) {
        for (size_t r = 0; r < kRows; ++r) {
          sums[r][c][v] =
              fma(F32::splat(weights[r * kSoftmaxBlock + s]), values.v[v], sums[r][c][v]);
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
template <size_t kRows, size_t kStrips, class Tile>
void weigh_ragged(const float* weights, const Tile* tiles, size_t strip, const size_t* counts,
                  size_t padded, float* acc) {
  weigh_rows<kRows, kStrips>(weights, tiles, strip, 0, counts[0], padded, acc);
  for (size_t r = 1; r < kRows; ++r) {
    if (counts[r] == counts[0]) continue;
    weigh_rows<1, kStrips>(weights + r * kSoftmaxBlock, tiles, strip, counts[0], counts[r], padded,
                           acc + r * padded);
  }
}

// Strips that are weighed with the same weights: [begin, end).
struct Strips {
  size_t begin;
  size_t end;
};

// kStrips at a time while they last, then one by one.
template <size_t kRows, size_t kStrips, class Tile>
void weigh_strips(const float* weights, const Tile* tiles, Strips strips, const size_t* counts,
                  size_t padded, float* acc) {
  size_t strip = strips.begin;
  for (; strip + kStrips <= strips.end; strip += kStrips) {
    weigh_ragged<kRows, kStrips>(weights, tiles, strip, counts, padded, acc);
  }
  for (; strip < strips.end; ++strip) {
    weigh_ragged<kRows, 1>(weights, tiles, strip, counts, padded, acc);
  }
}

// As score_many.
template <size_t kRows, size_t kStrips, class Tile>
size_t weigh_many(const float* weights, size_t rows, const Tile* tiles, Strips strips,
                  const size_t* counts, size_t padded, float* acc) {
  for (size_t strip = strips.begin; strip < strips.end; strip += kStrips) {
    const size_t end = strips.end - strip < kStrips ? strips.end : strip + kStrips;
    for (size_t r = 0; r + kRows <= rows; r += kRows) {
      weigh_strips<kRows, kStrips>(weights + r * kSoftmaxBlock, tiles, {strip, end}, counts + r,
                                   padded, acc + r * padded);
    }
  }
  return rows / kRows * kRows;
}

// counts[r] rises with r.
template <class Tile>
void weigh_all_rows(const float* weights, size_t rows, const Tile* tiles, Strips strips,
                    const size_t* counts, size_t padded, float* acc) {
  size_t r =
      weigh_many<kRowsAtOnce, kStripsAtOnce>(weights, rows, tiles, strips, counts, padded, acc);
  r += weigh_many<4, kStripsAtOnce>(weights + r * kSoftmaxBlock, rows - r, tiles, strips,
                                    counts + r, padded, acc + r * padded);
  if (rows - r >= 2) {
    weigh_strips<2, 2>(weights + r * kSoftmaxBlock, tiles, strips, counts + r, padded,
                       acc + r * padded);
    r += 2;
  }
  if (r < rows) {
    weigh_strips<1, 4>(weights + r * kSoftmaxBlock, tiles, strips, counts + r, padded,
                       acc + r * padded);
  }
}

// scaled[r][s] = weights[r][s] times the scale of a block of position s's channels.
template <class Tile>
void scale_weights(const float* weights, size_t rows, const Tile* tiles, size_t num_tiles,
                   size_t block, float* scaled) {
  for (size_t t = 0; t < num_tiles; ++t) {
    const TileRow scales = tiles[t].value_scales(block);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t v = 0; v < kTileVecs; ++v) {
        const size_t place = r * kSoftmaxBlock + t * kTile + v * F32::kLanes;
        (F32::load(weights + place) * scales.v[v]).store(scaled + place);
      }
    }
  }
}

// The tiles of one block.
template <class Tile>
struct Block {
  Tile tiles[kBlockTiles];
  size_t num_tiles;
};

// Where attend() keeps what it needs.
struct AttentionRoom {
  float* scores;   // [rows, kSoftmaxBlock]
  float* scaled;   // likewise
  float* decoded;  // [kBlockTiles, 2 padded, kTile]
  size_t* counts;  // [rows]
};

AttentionRoom room_of(const AttentionArgs& args) {
  const size_t scores = args.tokens * args.group * kSoftmaxBlock;
  float* const decoded = args.scratch + 2 * scores;
  return {args.scratch, args.scratch + scores, decoded,
          reinterpret_cast<size_t*>(decoded + kBlockTiles * 2 * args.padded * kTile)};
}

template <class Tile>
void weigh_block(const AttentionRoom& room, size_t rows, const Block<Tile>& block, size_t padded,
                 float* acc) {
  if constexpr (Tile::kScaled) {
    constexpr size_t kBlockStrips = kKvBlock / kTile;
    for (size_t b = 0; b < padded / kKvBlock; ++b) {
      scale_weights(room.scores, rows, block.tiles, block.num_tiles, b, room.scaled);
      weigh_all_rows(room.scaled, rows, block.tiles, {b * kBlockStrips, (b + 1) * kBlockStrips},
                     room.counts, padded, acc);
    }
  } else {
    weigh_all_rows(room.scores, rows, block.tiles, {0, padded / kTile}, room.counts, padded, acc);
  }
}

// The rows from first_row on see the block, which begins at position `begin`.
template <class Tile>
void attend_block(const AttentionArgs& args, const Block<Tile>& block, size_t begin,
                  size_t first_row, const AttentionRoom& room) {
  const size_t rows = args.tokens * args.group - first_row;
  const AttentionState out = {args.out.max + first_row, args.out.sum + first_row,
                              args.out.acc + first_row * args.padded};
  score_block(args.q + first_row * args.padded, rows, block.tiles, block.num_tiles, args.padded,
              room.scores);
  for (size_t r = 0; r < rows; ++r) {
    const size_t seen = args.first_position + (first_row + r) / args.group + 1 - begin;
    room.counts[r] = seen < kSoftmaxBlock ? seen : kSoftmaxBlock;
    softmax_row(room.scores + r * kSoftmaxBlock, room.counts[r], out.max + r, out.sum + r,
                out.acc + r * args.padded, args.padded);
  }
  weigh_block(room, rows, block, args.padded, out.acc);
}

template <class Tile>
Block<Tile> find_tiles(const AttentionArgs& args, size_t begin) {
  const size_t end = args.end - begin < kSoftmaxBlock ? args.end : begin + kSoftmaxBlock;
  Block<Tile> block;
  block.num_tiles = 0;
  for (size_t p = begin; p < end; p += kTile) {
    const size_t tile = p / kTile;
    const uint8_t* const page = static_cast<const uint8_t*>(args.tiles) +
                                size_t(args.pages[tile / args.page_tiles]) * args.page_bytes;
    block.tiles[block.num_tiles++] =
        Tile::at(page + tile % args.page_tiles * args.tile_bytes, args.padded);
  }
  return block;
}

template <class Tile>
void decode_tile(const Tile& tile, size_t padded, float* numbers) {
  const auto put = [&numbers](const TileRow& row) {
    for (size_t v = 0; v < kTileVecs; ++v, numbers += F32::kLanes) row.v[v].store(numbers);
  };
  for (size_t d = 0; d < padded; ++d) put(tile.keys(d));
  for (size_t i = 0; i < padded; ++i) put(tile.values(i));
}

template <class Tile>
Block<typename Tile::Decoded> decode_tiles(const Block<Tile>& block, size_t padded, float* room) {
  Block<typename Tile::Decoded> decoded;
  decoded.num_tiles = block.num_tiles;
  for (size_t t = 0; t < block.num_tiles; ++t, room += 2 * padded * kTile) {
    decode_tile(block.tiles[t], padded, room);
    decoded.tiles[t] = block.tiles[t].decoded(room);
  }
  return decoded;
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

template <class Tile>
void attend(const AttentionArgs& args) {
  const size_t rows = args.tokens * args.group;
  const AttentionRoom room = room_of(args);
  start_attention(args);
  for (size_t begin = args.begin; begin < args.end; begin += kSoftmaxBlock) {
    const size_t first_row = first_row_at(args, begin);
    const Block<Tile> block = find_tiles<Tile>(args, begin);
    if (rows - first_row <= Tile::kRowsUndecoded) {
      attend_block(args, block, begin, first_row, room);
    } else {
      attend_block(args, decode_tiles(block, args.padded, room.decoded), begin, first_row, room);
    }
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
