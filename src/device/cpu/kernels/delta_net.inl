// The gated delta rule, token by token. Row j of the transposed state, all keys of value channel j,
// meets the other rows nowhere: a few rows stay in the first-level cache while all tokens of the
// chunk pass over them, and each element is loaded and stored once a token. With M the state before
// the token,
//     d = beta (v - decay M^T k),  M = decay M + k d^T,  o = M^T q
// and the pass that writes M also reads it for o and for the next token's M^T k.
//
// Rows go in fours, whose sums across lanes are formed together. Measured on Zen 3: faster than
// twos; letting a token pass over several fours before the next one comes is slower.

constexpr size_t kDeltaRows = 4;

// M^T k of kRows rows.
template <size_t kRows>
void delta_dot(const float* state, const float* k, size_t padded, float* sums) {
  F32 dots[kRows];
  for (size_t r = 0; r < kRows; ++r) dots[r] = F32::zero();
  for (size_t i = 0; i < padded; i += F32::kLanes) {
    const F32 key = F32::load(k + i);
    for (size_t r = 0; r < kRows; ++r) {
      dots[r] = fma(F32::load(state + r * padded + i), key, dots[r]);
    }
  }
  sum_lanes_each(dots, sums);
}

struct DeltaToken {
  const float* k;
  const float* q;
  const float* next_k;
  float decay;
};

// Updates kRows rows by one token with errors d; `o` and `next` become M^T q and M^T next_k.
template <size_t kRows>
void delta_update(float* state, const DeltaToken& token, size_t padded, const float* d, float* o,
                  float* next) {
  F32 reads[kRows];
  F32 nexts[kRows];
  F32 errors[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    reads[r] = F32::zero();
    nexts[r] = F32::zero();
    errors[r] = F32::splat(d[r]);
  }
  const F32 decay = F32::splat(token.decay);
  for (size_t i = 0; i < padded; i += F32::kLanes) {
    const F32 k = F32::load(token.k + i);
    const F32 q = F32::load(token.q + i);
    const F32 next_k = F32::load(token.next_k + i);
    for (size_t r = 0; r < kRows; ++r) {
      float* const place = state + r * padded + i;
      const F32 m = fma(k, errors[r], F32::load(place) * decay);
      m.store(place);
      reads[r] = fma(m, q, reads[r]);
      nexts[r] = fma(m, next_k, nexts[r]);
    }
  }
  sum_lanes_each(nexts, next);
  sum_lanes_each(reads, o);
}

// Rows [j, j + kRows) of the state through all tokens.
template <size_t kRows>
void delta_rows(const DeltaNetHeadArgs& args, size_t j) {
  float* const state = args.state + j * args.padded;
  float known[kRows];  // M^T k
  delta_dot<kRows>(state, args.k, args.padded, known);
  for (size_t t = 0; t < args.tokens; ++t) {
    const float* const k = args.k + t * args.padded;
    const DeltaToken token = {k, args.q + t * args.padded, k + args.padded, args.decay[t]};
    const float* const v = args.v + t * args.v_stride + j;
    float d[kRows];
    for (size_t r = 0; r < kRows; ++r) d[r] = args.beta[t] * (v[r] - token.decay * known[r]);
    delta_update<kRows>(state, token, args.padded, d, args.y + t * args.y_stride + j, known);
  }
}

void gated_delta_net(const DeltaNetHeadArgs& args) {
  size_t j = 0;
  for (; j + kDeltaRows <= args.head_dim; j += kDeltaRows) delta_rows<kDeltaRows>(args, j);
  for (; j < args.head_dim; ++j) delta_rows<1>(args, j);
}
