// Scores of experts, and the sum of what they say. F32 is the including file's vector of floats.

void sigmoid_of(const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; i += F32::kLanes) {
    store_up_to(sigmoid(load_up_to(x + i, n - i)), y + i, n - i);
  }
}

// The largest is subtracted first, so that nothing overflows. Lanes behind n are not summed: they
// are 0 when what was stored is read again.
void softmax(const float* x, float* y, size_t n) {
  float top = x[0];
  for (size_t i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
  F32 sums = F32::zero();
  for (size_t i = 0; i < n; i += F32::kLanes) {
    const F32 below = load_up_to(x + i, n - i) - F32::splat(top);
    store_up_to(exp_nonpositive(below), y + i, n - i);
    sums = sums + load_up_to(y + i, n - i);
  }
  const F32 sum = F32::splat(sum_lanes(sums));
  for (size_t i = 0; i < n; i += F32::kLanes) {
    store_up_to(load_up_to(y + i, n - i) / sum, y + i, n - i);
  }
}

void weighted_sum(const WeightedSumArgs& args) {
  for (size_t i = 0; i < args.n; i += F32::kLanes) {
    const size_t left = args.n - i;
    F32 sum = F32::zero();
    for (size_t k = 0; k < args.num_rows; ++k) {
      const float* const row = args.x + size_t(args.rows[k]) * args.x_stride + i;
      sum = fma(F32::splat(args.weights[k]), load_up_to(row, left), sum);
    }
    store_up_to(sum, args.y + i, left);
  }
}
