#pragma once

namespace evener::reference {

double sigmoid(double x);
double silu(double x);
double softplus(double x);

}  // namespace evener::reference
