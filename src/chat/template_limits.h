#pragma once

#include <cstddef>
#include <cstdint>

namespace evener::chat {

// What one template may cost. A template comes out of a downloaded file and its conversation from a
// client, so both are bounded: beyond a limit there is an Error with Code::limit_exceeded.
struct TemplateLimits {
  size_t source_bytes = size_t{1} << 20;       // the template's text
  size_t num_tokens = size_t{200'000};         // of the template's text, after splitting it
  size_t nesting_depth = 100;                  // of expressions and blocks in the text
  uint64_t num_steps = 10'000'000;             // nodes evaluated, elements looked at
  uint64_t bytes_touched = uint64_t{1} << 30;  // of strings and lists built on the way
  size_t string_bytes = size_t{64} << 20;      // one string, the prompt included
  size_t num_elements = size_t{1} << 20;       // of one list or mapping, range() included
  size_t call_depth = 60;                      // macros calling macros
  size_t value_depth = 200;                    // lists in lists, whether made or sent by the client
};

}  // namespace evener::chat
