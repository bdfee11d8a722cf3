#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gguf/file.h"
#include "model/model.h"

namespace evener::model {

// One architecture: one file of this folder and one line in families.cpp.
struct Family {
  std::string_view name;  // general.architecture in GGUF; prefix of its keys

  // Fills in what is the family's own; the sizes all families share have been read and checked.
  Result<void> (*read_config)(const gguf::File& file, Config& config);

  std::unique_ptr<Model> (*create)(const Config& whole, const Part& part);
};

// Null if Evener does not know it.
const Family* find_family(std::string_view name);

// "llama, qwen3, qwen3moe, ..."
std::string family_names();

}  // namespace evener::model
