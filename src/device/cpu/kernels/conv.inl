// Depthwise causal convolution. Needs elementwise.inl.

// Row `row` of x; rows before the first lie in the history, the youngest last.
const float* conv_row(const ConvArgs& args, ptrdiff_t row) {
  if (row >= 0) return args.x + size_t(row) * args.x_stride;
  return args.history + size_t(row + ptrdiff_t(args.num_taps - 1)) * args.history_stride;
}

void conv_silu_row(const float* const* rows, const ConvArgs& args, float* y) {
  for (size_t c = 0; c < args.width; c += F32::kLanes) {
    const size_t n = args.width - c;
    F32 sum = F32::zero();
    for (size_t j = 0; j < args.num_taps; ++j) {
      sum = fma(load_up_to(args.taps + j * args.width + c, n), load_up_to(rows[j] + c, n), sum);
    }
    store_up_to(silu(sum), y + c, n);
  }
}

void causal_conv_silu(const ConvArgs& args) {
  const ptrdiff_t kept = ptrdiff_t(args.num_taps) - 1;
  for (size_t t = 0; t < args.rows; ++t) {
    const float* rows[kConvTapsMax];
    for (size_t j = 0; j < args.num_taps; ++j) {
      rows[j] = conv_row(args, ptrdiff_t(t + j) - kept);
    }
    conv_silu_row(rows, args, args.y + t * args.y_stride);
  }
  // Oldest first, so that a row of the history is read before it is overwritten.
  for (ptrdiff_t i = 0; i < kept; ++i) {
    const float* const from = conv_row(args, ptrdiff_t(args.rows) - kept + i);
    float* const to = args.history + size_t(i) * args.history_stride;
    if (from != to) memcpy(to, from, args.width * sizeof(float));
  }
}
