#pragma once

#include <vector>

#include "reference/matrix.h"

namespace evener::reference {

enum class Pairing { neighbours, halves };

// Turns the first 2 n channels of one head at one position, n being the number of frequencies.
// Source: reference/models/llama.md, qwen3.md.
void rope(double* head, int position, const std::vector<double>& inverse_frequency,
          double magnitude, Pairing pairing);

}  // namespace evener::reference
