#include "reference/rope.h"

#include <cmath>

namespace evener::reference {

void rope(double* head, int position, const std::vector<double>& inverse_frequency,
          double magnitude, Pairing pairing) {
  const size_t n = inverse_frequency.size();
  for (size_t k = 0; k < n; ++k) {
    double& first = pairing == Pairing::halves ? head[k] : head[2 * k];
    double& second = pairing == Pairing::halves ? head[k + n] : head[2 * k + 1];
    const double angle = position * inverse_frequency[k];
    const double a = first;
    const double b = second;
    first = magnitude * (a * std::cos(angle) - b * std::sin(angle));
    second = magnitude * (a * std::sin(angle) + b * std::cos(angle));
  }
}

}  // namespace evener::reference
