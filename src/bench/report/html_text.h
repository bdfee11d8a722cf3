#pragma once

#include <string>
#include <string_view>

#include "bench/report/text.h"

namespace evener::bench {

// For text and for attributes between double quotes.
std::string html_escaped(std::string_view text);

// Both languages, one of which the page shows; once if they are the same.
std::string html(const Text& text);

}  // namespace evener::bench
