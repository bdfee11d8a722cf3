#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bench/client.h"
#include "bench/server.h"

namespace evener::bench {

enum class TextKind : uint8_t { prose, code, counting };

// Texts made from seeds, of an exact length in the server's own tokens. Nothing here is anybody's
// text. Source: reference/serving/bench.md, 3.2 and 6.
class Prompts {
 public:
  // Exact to one token where the server tokenizes. Otherwise lengths are learned from the usage of
  // answers of one token, and are right to about a hundredth.
  Prompts(Client& client, Server& server, uint64_t seed);

  // A user message whose whole prompt (with the template around it) has `num_tokens` tokens. It
  // begins with a nonce that no other call has had, in this run or another, so that no cache knows
  // it. Errors: limit_exceeded (fewer tokens than the template and the nonce take), those of
  // Server::count_tokens.
  Result<std::string> cold(TextKind kind, uint64_t num_tokens);

  // As cold, but begins with `shared`, and the nonce comes after it.
  Result<std::string> after(std::string_view shared, TextKind kind, uint64_t num_tokens);

 private:
  Client& client_;
  Server& server_;
  uint64_t seed_;
};

}  // namespace evener::bench
