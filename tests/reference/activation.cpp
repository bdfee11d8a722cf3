#include "reference/activation.h"

#include <cmath>

namespace evener::reference {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double silu(double x) { return x * sigmoid(x); }

double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }

}  // namespace evener::reference
