#pragma once

#include "reference/matrix.h"

namespace evener::reference {

// silu of the depthwise causal convolution of a whole sequence; rows before the first are 0.
// x [tokens, channels], taps [channels, C], oldest first.
Matrix causal_conv_silu(const Matrix& x, const Matrix& taps);

}  // namespace evener::reference
