#pragma once

#include <string_view>

namespace evener::bench {

struct Word {
  std::string_view key;
  std::string_view english;
  std::string_view chinese;
};

}  // namespace evener::bench
