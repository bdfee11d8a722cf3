#include "bench/report/json_text.h"

#include <string_view>
#include <utility>

namespace evener::bench {

std::string json_text(const json::Value& value, JsonLayout layout) {
  const std::string plain = value.dump(layout == JsonLayout::lines ? 1 : -1, ' ', false,
                                       json::Value::error_handler_t::replace);
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"<", "\\u003c"},
      {"&", "\\u0026"},
      {"\xE2\x80\xA8", "\\u2028"},
      {"\xE2\x80\xA9", "\\u2029"},
  };
  std::string out;
  out.reserve(plain.size() + plain.size() / 64);
  for (size_t at = 0; at < plain.size();) {
    const std::string_view rest = std::string_view(plain).substr(at);
    size_t taken = 0;
    for (const auto& [from, to] : kEscapes) {
      if (!rest.starts_with(from)) continue;
      out += to;
      taken = from.size();
    }
    if (taken == 0) out += plain[at];
    at += taken == 0 ? 1 : taken;
  }
  return out;
}

}  // namespace evener::bench
