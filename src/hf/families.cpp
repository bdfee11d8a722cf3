#include <algorithm>

#include "hf/family.h"

namespace evener::hf {

extern const Family llama;
extern const Family qwen3;
extern const Family qwen3moe;
extern const Family qwen3next;
extern const Family qwen35;
extern const Family qwen35moe;

namespace {

const Family* const kFamilies[] = {&llama, &qwen3, &qwen3moe, &qwen3next, &qwen35, &qwen35moe};

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const Family* family : kFamilies) {
    const auto types = family->model_types;
    if (std::ranges::find(types, model_type) != types.end()) return family;
  }
  return nullptr;
}

std::string model_type_names() {
  std::string names;
  for (const Family* family : kFamilies) {
    for (const std::string_view type : family->model_types) {
      if (!names.empty()) names += ", ";
      names += type;
    }
  }
  return names;
}

}  // namespace evener::hf
