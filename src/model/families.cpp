#include "model/families.h"

namespace evener::model {

extern const Family llama;
extern const Family qwen3;
extern const Family qwen35;
extern const Family qwen35moe;
extern const Family qwen3moe;
extern const Family qwen3next;

namespace {

const Family* const kFamilies[] = {&llama, &qwen3, &qwen3moe, &qwen3next, &qwen35, &qwen35moe};

}  // namespace

const Family* find_family(std::string_view name) {
  for (const Family* family : kFamilies) {
    if (family->name == name) return family;
  }
  return nullptr;
}

std::string family_names() {
  std::string names;
  for (const Family* family : kFamilies) {
    if (!names.empty()) names += ", ";
    names += family->name;
  }
  return names;
}

}  // namespace evener::model
