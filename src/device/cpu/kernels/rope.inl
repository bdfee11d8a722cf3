// Rotary embedding: (a, b) -> (a cos - b sin, a sin + b cos).

// Channels (2k, 2k + 1). Left to the compiler's shuffles.
void rope_neighbours(const RopeArgs& args) {
  const float* const cosines = args.angles;
  const float* const sines = args.angles + args.pairs;
  for (size_t h = 0; h < args.heads; ++h) {
    float* const x = args.x + h * args.x_stride;
    for (size_t k = 0; k < args.pairs; ++k) {
      const float a = x[2 * k];
      const float b = x[2 * k + 1];
      x[2 * k] = a * cosines[k] - b * sines[k];
      x[2 * k + 1] = a * sines[k] + b * cosines[k];
    }
  }
}

// Channels (k, k + pairs).
void rope_halves(const RopeArgs& args) {
  const float* const cosines = args.angles;
  const float* const sines = args.angles + args.pairs;
  for (size_t h = 0; h < args.heads; ++h) {
    float* const x = args.x + h * args.x_stride;
    for (size_t k = 0; k < args.pairs; k += F32::kLanes) {
      const size_t n = args.pairs - k;
      const F32 a = load_up_to(x + k, n);
      const F32 b = load_up_to(x + args.pairs + k, n);
      const F32 c = load_up_to(cosines + k, n);
      const F32 s = load_up_to(sines + k, n);
      store_up_to(a * c - b * s, x + k, n);
      store_up_to(a * s + b * c, x + args.pairs + k, n);
    }
  }
}
