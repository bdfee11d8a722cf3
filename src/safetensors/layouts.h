#pragma once

#include "safetensors/layout.h"

namespace evener::safetensors {

// One for each file; layout.cpp lists them.
extern const Layout fp8;
extern const Layout gptq;
extern const Layout awq;

}  // namespace evener::safetensors
