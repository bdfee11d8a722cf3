#pragma once

namespace evener::tokenizer {

// Unicode's White_Space.
bool is_white_space(char32_t character);

// A letter, mark, decimal digit or connector: what a word is made of.
bool is_word_character(char32_t character);

}  // namespace evener::tokenizer
