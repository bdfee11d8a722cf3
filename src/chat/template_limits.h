#pragma once

#include <cstddef>
#include <cstdint>

namespace evener::chat {

// What one template may cost. A template comes out of a downloaded file and its conversation from a
// client, so both are bounded: beyond a limit there is an Error with Code::limit_exceeded.
struct TemplateLimits {
  size_t source_bytes = size_t{1} << 20;    // the template's text
  size_t num_tokens = 200'000;              // of the template's text, after splitting it
  size_t nesting_depth = 100;               // of expressions and blocks in the text
  size_t evaluation_depth = 500;            // of nodes at run time; macros calling macros
  uint64_t num_steps = 5'000'000;           // nodes evaluated, elements and 64-byte runs visited
  size_t memory_bytes = size_t{256} << 20;  // of all values alive at once
  size_t string_bytes = size_t{64} << 20;   // one string, the prompt included
  size_t num_elements = size_t{1} << 20;    // of one list or mapping, range() included
  size_t value_depth = 200;                 // lists in lists, whether made or sent by the client
};

}  // namespace evener::chat
