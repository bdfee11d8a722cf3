#include "gguf/layer_name.h"

#include <charconv>
#include <system_error>

namespace evener::gguf {

std::optional<LayerName> split_layer_name(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  LayerName result;
  const auto [at, error] = std::from_chars(name.data() + kPrefix.size(), end, result.layer);
  if (error != std::errc() || at == end || *at != '.') return std::nullopt;
  result.name = name.substr(static_cast<size_t>(at + 1 - name.data()));
  return result;
}

}  // namespace evener::gguf
