#pragma once

#include "bench/scripted/state.h"
#include "bench/scripted/wire.h"

namespace evener::bench::scripted {

constexpr uint32_t kTemplateTokens = 3;  // around the messages of a chat

Words words_of(std::string_view text);

// False: the connection is done with.
bool answer_chat(State& state, Wire& wire, const Request& request);

}  // namespace evener::bench::scripted
