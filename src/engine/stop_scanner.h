#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evener::engine {

// Looks for stop texts in a text that comes in pieces. What may yet turn out to be the beginning of
// a stop text is held back, so nothing of one is ever let out. The stop text that is complete first
// counts, the longest of several that end at the same byte; so the result does not depend on how
// the text is cut. Time is linear in text and number of stops. One thread.
class StopScanner {
 public:
  explicit StopScanner(std::vector<std::string> stops);  // none is empty

  struct Result {
    std::string text;      // may be let out
    bool stopped = false;  // `text` ends where the stop text begins; the rest is dropped
  };

  // After a result that stopped, nothing may be pushed any more.
  Result push(std::string_view text);

  // The text has ended: what was held back.
  std::string finish();

 private:
  // One stop text and how much of it the text's end matches (Knuth, Morris, Pratt 1977).
  struct Matcher {
    explicit Matcher(std::string stop_text);
    void advance(char byte);
    bool complete() const { return matched == stop.size(); }

    std::string stop;
    std::vector<size_t> fallback;  // [n]: longest proper border of the first n bytes
    size_t matched = 0;
  };

  std::vector<Matcher> matchers_;
  std::string held_;
};

}  // namespace evener::engine
