// exp, the sigmoids, and the elementwise operations. F32 is the including file's vector of floats.

// exp(x) for x <= 0, within 2 units in the last place; 0 below -87.33, where exp(x) leaves the
// normal numbers; NaN stays NaN. Cody-Waite: x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts
// so that n * high is exact; the polynomial is the series of exp to r^7 / 7!, whose remainder is
// below 2^-27 there.
F32 exp_nonpositive(F32 x) {
  const F32 lowest = F32::splat(-87.33f);
  const F32 clamped = max(lowest, x);  // max(a, NaN) is NaN
  const F32 n = round_to_even(clamped * F32::splat(1.44269504f));
  F32 r = fma(n, F32::splat(-0.693359375f), clamped);
  r = fma(n, F32::splat(2.12194440e-4f), r);
  F32 p = F32::splat(1.0f / 5040);
  p = fma(p, r, F32::splat(1.0f / 720));
  p = fma(p, r, F32::splat(1.0f / 120));
  p = fma(p, r, F32::splat(1.0f / 24));
  p = fma(p, r, F32::splat(1.0f / 6));
  p = fma(p, r, F32::splat(0.5f));
  p = fma(p, r * r, r) + F32::splat(1);
  return zero_where_less(x, lowest, p * power_of_two(n));
}

// 1 / (1 + exp(-x)), formed from exp(-|x|) so that nothing overflows.
F32 sigmoid(F32 x) {
  const F32 e = exp_nonpositive(F32::zero() - abs(x));
  const F32 one = F32::splat(1);
  return select_negative(x, e, one) / (one + e);
}

F32 silu(F32 x) { return x * sigmoid(x); }

// The first n floats at p, n possibly more than the lanes; lanes behind them are 0.
F32 load_up_to(const float* p, size_t n) {
  return n < F32::kLanes ? F32::load_first(p, n) : F32::load(p);
}

void store_up_to(F32 v, float* p, size_t n) {
  if (n < F32::kLanes) return v.store_first(p, n);
  v.store(p);
}

// y[i] = op(a[i], b[i]); y may be a or b.
template <class Op>
void map(const float* a, const float* b, float* y, size_t n, Op op) {
  for (size_t i = 0; i < n; i += F32::kLanes) {
    store_up_to(op(load_up_to(a + i, n - i), load_up_to(b + i, n - i)), y + i, n - i);
  }
}

void silu_mul(const float* gate, const float* up, float* y, size_t n) {
  map(gate, up, y, n, [](F32 g, F32 u) { return silu(g) * u; });
}

void sigmoid_mul(const float* x, const float* gate, float* y, size_t n) {
  map(x, gate, y, n, [](F32 v, F32 g) { return v * sigmoid(g); });
}

void add(const float* x, float* y, size_t n) {
  map(x, y, y, n, [](F32 a, F32 b) { return b + a; });
}
