#pragma once

#include <map>
#include <string>

namespace evener::chat {

// Texts of a model's special tokens, as its template may name them. Empty: the model has none.
struct SpecialTexts {
  std::string bos;                           // {{ bos_token }}
  std::string eos;                           // {{ eos_token }}
  std::string pad;                           // {{ pad_token }}
  std::string unk;                           // {{ unk_token }}
  std::map<std::string, std::string> named;  // others by variable name: "image_token" -> "<image>"
};

}  // namespace evener::chat
