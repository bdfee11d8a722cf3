#pragma once

#include "reference/matrix.h"

namespace evener::reference {

// y[r,c] = x[r,c] gain[c] / sqrt(mean over c of x[r,c]^2 + epsilon)
Matrix rms_norm(const Matrix& x, const Matrix& gain, double epsilon);

// rms_norm(x) * silu(gate)
Matrix gated_rms_norm(const Matrix& x, const Matrix& gain, double epsilon, const Matrix& gate);

}  // namespace evener::reference
