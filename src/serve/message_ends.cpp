#include "serve/message_ends.h"

namespace evener::serve {

std::vector<size_t> message_ends(std::span<const TokenId> prompt, const Generator& generator) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < prompt.size(); ++i) {
    if (generator.ends_turn(prompt[i])) ends.push_back(i + 1);
  }
  return ends;
}

}  // namespace evener::serve
