#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evener::engine {

// Looks for stop texts in a text that comes in pieces. What may yet turn out to be the beginning of
// a stop text is held back, so nothing of one is ever let out. Of several that end at once, the one
// that begins first wins. One thread.
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
  size_t num_held() const;

  std::vector<std::string> stops_;
  std::string held_;
};

}  // namespace evener::engine
