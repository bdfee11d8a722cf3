// Activations to 8 bits, as llama.cpp does it on this instruction set's family.

void put_codes(const int8_t (&codes)[32], int8_t (*panel)[kPanelRows][4], size_t row) {
  for (size_t step = 0; step < 8; ++step) memcpy(panel[step][row], codes + 4 * step, 4);
}

float largest_size(const float* x, size_t n) {
  F32 largest = F32::zero();
  for (size_t i = 0; i < n; i += F32::kLanes) largest = max(largest, abs(F32::load(x + i)));
  return max_lanes(largest);
}

float round_to_f16(float x) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(to_f16(x)))); }

void quantise_q8_0(const float* x, size_t n, Q8_0Panel* panel, size_t row) {
  for (size_t block = 0; block < n / 32; ++block, x += 32, ++panel) {
    const float largest = largest_size(x, 32);
    const float scale = largest / 127.0f;
    int8_t codes[32];
    round_to_codes(x, largest != 0 ? 127.0f / largest : 0, codes);
    int32_t sums[4];
    sum_codes(codes, sums);
    put_codes(codes, panel->codes, row);
    panel->scale[row] = round_to_f16(scale);
    panel->half_sum[row] = sums[0] + sums[1];
    panel->sum[row] = sums[0] + sums[1] + sums[2] + sums[3];
    panel->scaled_sum[row] = round_to_f16(scale * float(panel->sum[row]));
  }
}

// The entry of largest size, the first of them if there are several, with its sign.
float signed_largest(const float* x, size_t n) {
  const float largest = largest_size(x, n);
  for (size_t i = 0; i < n; i += F32::kLanes) {
    const size_t lane = first_equal(abs(F32::load(x + i)), F32::splat(largest));
    if (lane < F32::kLanes) return x[i + lane];
  }
  return 0;  // NaN all over
}

void quantise_q8_k_block(const float* x, Q8_KPanel* panel, size_t row) {
  const float largest = signed_largest(x, 256);
  const float factor = largest != 0 ? -127.0f / largest : 0;
  for (size_t sub = 0; sub < 8; ++sub) {
    int8_t codes[32];
    round_to_codes(x + 32 * sub, factor, codes);
    int32_t sums[4];
    sum_codes(codes, sums);
    put_codes(codes, panel->codes + 8 * sub, row);
    panel->sums16[sub][row][0] = int16_t(sums[0] + sums[1]);
    panel->sums16[sub][row][1] = int16_t(sums[2] + sums[3]);
    panel->sums32[sub / 2][row][sub % 2] = int16_t(sums[0] + sums[1] + sums[2] + sums[3]);
  }
  panel->scale[row] = factor != 0 ? 1.0f / factor : 0;
}

void quantise_q8_k(const float* x, size_t n, Q8_KPanel* panel, size_t row) {
  for (size_t block = 0; block < n / 256; ++block) {
    quantise_q8_k_block(x + 256 * block, panel + block, row);
  }
}
