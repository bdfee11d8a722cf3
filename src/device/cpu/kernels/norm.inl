// Norms. Needs elementwise.inl.

// Four sums in flight, added in one fixed order that depends on n alone.
float sum_of_squares(const float* x, size_t n) {
  constexpr size_t kStep = 4 * F32::kLanes;
  F32 sums[4] = {F32::zero(), F32::zero(), F32::zero(), F32::zero()};
  size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (size_t s = 0; s < 4; ++s) {
      const F32 v = F32::load(x + i + s * F32::kLanes);
      sums[s] = fma(v, v, sums[s]);
    }
  }
  for (; i < n; i += F32::kLanes) {
    const F32 v = load_up_to(x + i, n - i);
    sums[0] = fma(v, v, sums[0]);
  }
  return sum_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

void rms_norm_row(const float* x, const float* gain, float epsilon, float* y, size_t n) {
  const F32 scale = F32::splat(1 / sqrtf(sum_of_squares(x, n) / float(n) + epsilon));
  map(x, gain, y, n, [scale](F32 v, F32 g) { return v * scale * g; });
}

void rms_norm(const NormArgs& args) {
  for (size_t r = 0; r < args.rows; ++r) {
    rms_norm_row(args.x + r * args.x_stride, args.gain, args.epsilon, args.y + r * args.y_stride,
                 args.cols);
  }
}

void gated_rms_norm(const NormArgs& args) {
  rms_norm(args);
  for (size_t r = 0; r < args.rows; ++r) {
    float* const y = args.y + r * args.y_stride;
    map(y, args.gate + r * args.gate_stride, y, args.cols,
        [](F32 v, F32 g) { return v * silu(g); });
  }
}

void l2_norm(const float* x, size_t n, float epsilon, float scale, float* y, size_t padded) {
  const F32 factor = F32::splat(scale / sqrtf(sum_of_squares(x, n) + epsilon));
  map(x, x, y, n, [factor](F32 v, F32) { return v * factor; });
  for (size_t i = n; i < padded; ++i) y[i] = 0;
}
