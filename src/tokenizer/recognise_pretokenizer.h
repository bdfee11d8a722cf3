#pragma once

#include <string_view>

#include "base/error.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// The value of GGUF's tokenizer.ggml.pre under which a vocabulary with `splits` splits texts into
// words as it does itself. Empty if there is none. Rules are compared by what they do, since
// tokenizer.json spells one rule in many ways: they are one if they split alike all strings of
// three characters, where each kind that a rule tells from others is tried, and many longer ones.
// Whether words that are tokens are taken whole may differ where no name has both: vocabularies
// that list all merges do not show it. Errors: those of Splitter::create.
//
// Judge: tests/tokenizer/recognise_pretokenizer_test.cpp.
Result<std::string_view> recognise_pretokenizer(const Vocab& vocab);

}  // namespace evener::tokenizer
