#pragma once

#include <string>
#include <string_view>

#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// `text` in a normal form of Unicode (annex 15). Bytes that are not part of well-formed UTF-8 stay
// as they are; the text on each side of them is normalised by itself. `form` is not none.
std::string to_normal_form(std::string_view text, NormalForm form);

}  // namespace evener::tokenizer
