#include "bench/report/words.h"

#include <algorithm>

namespace evener::bench {

Text word_or_name(std::string_view group, std::string_view name) {
  std::string key(group);
  key += '.';
  key += name;
  if (const Word* found = find_word(key)) {
    return {.english = std::string(found->english), .chinese = std::string(found->chinese)};
  }
  std::string spaced = shown(name, 80);
  std::replace(spaced.begin(), spaced.end(), '_', ' ');
  return same(spaced);
}

}  // namespace evener::bench
