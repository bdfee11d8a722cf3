#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "serve/generator.h"

namespace evener::serve {

// Where the messages of a rendered prompt end: behind each token that ends a turn or a generation
// ("<|im_end|>", "<|eot_id|>", "</s>"), which templates put behind messages. Rising positions; none
// where a template marks turns by plain text. They say where a snapshot is worth its place, so a
// mark inside a message does no harm. O(tokens).
std::vector<size_t> message_ends(std::span<const TokenId> prompt, const Generator& generator);

}  // namespace evener::serve
