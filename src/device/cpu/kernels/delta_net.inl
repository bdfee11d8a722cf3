// The gated delta rule, token by token. Row j of the transposed state, all keys of value channel j,
// meets the other rows nowhere: a few rows stay in the first-level cache while all tokens of the
// chunk pass over them, and each element is loaded and stored once a token. With M the state before
// the token's decay,
//     d = beta (v - decay M^T k),  M = decay M + k d^T,  o = M^T q
// and the pass that writes M also reads it for o and for the next token's M^T k.

template <size_t kRows>
struct DeltaSums {
  float values[kRows];
};

// M^T k of kRows rows.
template <size_t kRows>
DeltaSums<kRows> delta_dot(const float* state, const float* k, size_t padded) {
  F32 sums[kRows];
  for (size_t r = 0; r < kRows; ++r) sums[r] = F32::zero();
  for (size_t i = 0; i < padded; i += F32::kLanes) {
    const F32 key = F32::load(k + i);
    for (size_t r = 0; r < kRows; ++r) {
      sums[r] = fma(F32::load(state + r * padded + i), key, sums[r]);
    }
  }
  DeltaSums<kRows> result;
  for (size_t r = 0; r < kRows; ++r) result.values[r] = sum_lanes(sums[r]);
  return result;
}

struct DeltaToken {
  const float* k;
  const float* q;
  const float* next_k;
  float decay;
};

// Updates kRows rows by one token. `sums` holds d and becomes the next token's M^T k; returns o.
template <size_t kRows>
DeltaSums<kRows> delta_update(float* state, const DeltaToken& token, size_t padded,
                              DeltaSums<kRows>& sums) {
  F32 read[kRows];
  F32 next[kRows];
  F32 d[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    read[r] = F32::zero();
    next[r] = F32::zero();
    d[r] = F32::splat(sums.values[r]);
  }
  const F32 decay = F32::splat(token.decay);
  for (size_t i = 0; i < padded; i += F32::kLanes) {
    const F32 k = F32::load(token.k + i);
    const F32 q = F32::load(token.q + i);
    const F32 next_k = F32::load(token.next_k + i);
    for (size_t r = 0; r < kRows; ++r) {
      float* const place = state + r * padded + i;
      const F32 m = fma(k, d[r], F32::load(place) * decay);
      m.store(place);
      read[r] = fma(m, q, read[r]);
      next[r] = fma(m, next_k, next[r]);
    }
  }
  DeltaSums<kRows> result;
  for (size_t r = 0; r < kRows; ++r) {
    result.values[r] = sum_lanes(read[r]);
    sums.values[r] = sum_lanes(next[r]);
  }
  return result;
}

// Rows [j, j + kRows) of the state through all tokens.
template <size_t kRows>
void delta_rows(const DeltaNetHeadArgs& args, size_t j) {
  float* const state = args.state + j * args.padded;
  DeltaSums<kRows> sums = delta_dot<kRows>(state, args.k, args.padded);
  for (size_t t = 0; t < args.tokens; ++t) {
    const float* const k = args.k + t * args.padded;
    for (size_t r = 0; r < kRows; ++r) {
      const float v = args.v[t * args.v_stride + j + r];
      sums.values[r] = args.beta[t] * (v - args.decay[t] * sums.values[r]);
    }
    const DeltaToken token = {k, args.q + t * args.padded, k + args.padded, args.decay[t]};
    const DeltaSums<kRows> o = delta_update<kRows>(state, token, args.padded, sums);
    for (size_t r = 0; r < kRows; ++r) args.y[t * args.y_stride + j + r] = o.values[r];
  }
}

void gated_delta_net(const DeltaNetHeadArgs& args) {
  constexpr size_t kRows = F32::kLanes == 8 ? 2 : 4;  // what the registers hold
  size_t j = 0;
  for (; j + kRows <= args.head_dim; j += kRows) delta_rows<kRows>(args, j);
  for (; j < args.head_dim; ++j) delta_rows<1>(args, j);
}
