// Functions whose accuracy drivers differ in, from products and sums alone. A few units in the last
// place; what is no number stays none.

// e^x. Source: Cody and Waite's reduction, Taylor's polynomial.
float exp_of(float x) {
  if (isnan(x)) return x;
  const float clamped = clamp(x, -104.0, 89.0);
  precise const float n = roundEven(clamped * 1.44269504088896341);
  precise float r = fma(n, -0.693359375, clamped);
  r = fma(n, 2.12194440e-4, r);
  precise float p = fma(r, 1.98412698e-4, 1.38888889e-3);
  p = fma(p, r, 8.33333333e-3);
  p = fma(p, r, 4.16666667e-2);
  p = fma(p, r, 1.66666667e-1);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  // In two steps: 2^n alone may be out of range.
  const int half_n = int(n) / 2;
  precise float y = p * uintBitsToFloat(uint(half_n + 127) << 23);
  y = y * uintBitsToFloat(uint(int(n) - half_n + 127) << 23);
  return y;
}

// a / b to the last place: division alone may be three units off.
float divide(float a, float b) {
  precise const float inverse = 1.0 / b;
  precise const float q = a * inverse;
  precise const float rest = fma(-q, b, a);
  precise const float y = fma(rest, inverse, q);
  return isnan(y) || isinf(y) ? q : y;
}

float root(float x) {
  if (!(x > 0.0) || isinf(x)) return x;
  precise const float y = sqrt(x);
  precise const float rest = fma(-y, y, x);
  precise const float z = fma(rest, 0.5 / y, y);
  return z;
}

float sigmoid(float x) {
  const float e = exp_of(-abs(x));
  const float positive = divide(1.0, 1.0 + e);
  return x < 0.0 ? e * positive : positive;
}

float silu(float x) { return x * sigmoid(x); }

// log(1 + e^x)
float softplus(float x) {
  const float e = exp_of(-abs(x));
  // log1p(e): log's own error is small beside 1, and what rounding 1 + e lost is put back.
  precise const float one_and = 1.0 + e;
  precise const float lost = e - (one_and - 1.0);
  precise const float y = log(one_and) + lost / one_and;
  const float small = e < 1.0e-3 ? e * fma(e, fma(e, 0.33333333, -0.5), 1.0) : y;
  return max(x, 0.0) + small;
}
