#include "cli/kv_option.h"

#include <vector>

#include "device/kv_type.h"

namespace evener::cli {

void add_kv_option(CommandLine& line, const std::string& name, std::string& value,
                   const std::string& help) {
  std::vector<std::string> names;
  for (const device::KvTypeInfo& type : device::kKvTypes) names.emplace_back(type.name);
  line.add(name, value, help).one_of(names);
}

}  // namespace evener::cli
