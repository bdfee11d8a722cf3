#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace evener::gguf {

// "blk.3.attn_q.weight" is layer 3's "attn_q.weight". `name` is a view into what was taken apart.
struct LayerName {
  size_t layer = 0;
  std::string_view name;
};

// Nothing if the tensor's name has not that form.
std::optional<LayerName> split_layer_name(std::string_view name);

}  // namespace evener::gguf
