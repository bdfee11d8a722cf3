#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "bench/client.h"
#include "bench/server.h"

namespace evener::bench {

enum class TextKind : uint8_t { prose, code, counting };

// Texts made from seeds, of an exact length in the server's own tokens. Nothing here is anybody's
// text. Each begins with a nonce and ends by asking for more of its kind, so that an answer is long
// even where a length cannot be forced.
//
// Asks the server and waits for it, so not from the client's thread; one thread at a time. What is
// learned of the server (the template around a message, tokens a word) is learned once.
// Source: reference/serving/bench.md, 3.2 and 6. Judge: prompts_test.cpp.
class Prompts {
 public:
  // Exact to one token where the server tokenizes. Otherwise lengths are learned from the usage of
  // answers of one token, and are right to about a hundredth; prompts of one kind and length then
  // differ by their nonce alone.
  Prompts(Client& client, Server& server, uint64_t seed);

  // A user message whose whole prompt (with the template around it) has `num_tokens` tokens. It
  // begins with a nonce that no other call has had, in this run or another, so that no cache knows
  // it. Errors: limit_exceeded (fewer tokens than the template and the nonce take), unavailable (an
  // answer to learn from failed), unsupported (the server counts no tokens anywhere), those of
  // Server::count_tokens.
  Result<std::string> cold(TextKind kind, uint64_t num_tokens);

  // As cold, but begins with `shared`, and the nonce comes after it. The server has never seen
  // `shared` at the beginning of a prompt when this returns, unless by another way.
  Result<std::string> after(std::string_view shared, TextKind kind, uint64_t num_tokens);

 private:
  struct Fit {  // how much text between the nonce and the request at the end
    size_t num_words = 0;
    size_t num_fillers = 0;
  };
  using Count = std::function<Result<uint64_t>(const Fit&)>;
  struct Aim {
    uint64_t num_tokens;
    uint64_t tolerance;
  };

  Result<Fit> fit_exact(std::string_view shared, TextKind kind, const std::string& nonce,
                        uint64_t num_tokens);
  Result<Fit> fit_learned(std::string_view shared, TextKind kind, uint64_t num_tokens);
  Result<Fit> search(TextKind kind, const Aim& aim, const Count& count);
  Result<uint64_t> count_by_tokenizer(const std::string& message);
  Result<uint64_t> count_by_usage(const std::string& message);
  uint64_t text_seed() const;

  Client& client_;
  Server& server_;
  uint64_t seed_;
  uint64_t num_texts_ = 0;                  // each exact text is another one
  std::optional<int64_t> template_tokens_;  // what a prompt has more than its message alone
  std::optional<uint64_t> nonce_tokens_;    // where lengths are learned: of a nonce more
  std::map<TextKind, double> tokens_per_word_;
  std::map<std::tuple<TextKind, uint64_t, uint64_t>, Fit> learned_;  // kind, length, hash of shared
};

}  // namespace evener::bench
