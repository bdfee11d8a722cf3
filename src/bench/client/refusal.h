#pragma once

#include <string>
#include <string_view>

#include "bench/client/response_parser.h"
#include "bench/client/url.h"
#include "bench/finding.h"

namespace evener::bench {

// An answer of another status than 200, as a fault and in words with the remedy.
struct Refusal {
  Fault fault;
  std::string words;
};
Refusal explain_refusal(const ResponseHead& head, std::string_view body, const Url& url);

// A word from a server's header, as it may be printed.
std::string printable_word(std::string_view word);

}  // namespace evener::bench
