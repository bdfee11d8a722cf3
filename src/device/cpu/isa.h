#pragma once

#include <span>
#include <string_view>

#include "base/error.h"

namespace evener::device::cpu {

// The instruction sets that kernels exist for, worst first. avx2 includes FMA and F16C; avx512vnni
// includes AVX-512 F, BW, DQ and VL.
enum class Isa { avx2, avx512vnni };

std::string_view isa_name(Isa isa);

// Those that this CPU has and the operating system saves the registers of, worst first. Empty on a
// CPU without AVX2.
std::span<const Isa> available_isas();

// The instruction set called `wanted`; if that is empty the one that the environment variable
// EVENER_ISA names; else the best available. Errors: invalid_argument (no such name), unsupported
// (this CPU lacks it).
Result<Isa> choose_isa(std::string_view wanted);

}  // namespace evener::device::cpu
