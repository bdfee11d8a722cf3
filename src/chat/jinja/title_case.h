#pragma once

#include <string>
#include <string_view>

namespace evener::chat::jinja {

// str.title(): a letter behind anything but a letter is upper, all others lower.
std::string title_words(std::string_view text);

// The filter title: a word begins behind whitespace - ( { [ <, so "they're" keeps its small r.
std::string title_filter(std::string_view text);

}  // namespace evener::chat::jinja
