#pragma once

#include "bench/scripted/state.h"
#include "bench/scripted/wire.h"

namespace evener::bench::scripted {

// Answers one request. False: the connection is done with.
bool answer(State& state, Wire& wire, const Request& request);

}  // namespace evener::bench::scripted
