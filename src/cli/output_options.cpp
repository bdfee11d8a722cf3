#include "cli/output_options.h"

#include <system_error>
#include <utility>

namespace evener::cli {

void add_output_options(CommandLine& line, OutputOptions& options) {
  line.add("OUT", options.path, "GGUF file to write").required();
  line.add("--force", options.force, "replace OUT if it is there");
}

Status check_output(const OutputOptions& options, const std::string& doing) {
  const auto refuse = [&](std::string why, std::string remedy) {
    return Error{.code = Code::invalid_argument,
                 .doing = doing,
                 .where = options.path.string(),
                 .why = std::move(why),
                 .remedy = std::move(remedy)};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(options.path, ignored))
    return refuse("is a folder", "name a file to write");
  if (!options.force && std::filesystem::exists(options.path, ignored))
    return refuse("is there already", "name another file, or say --force");
  return {};
}

}  // namespace evener::cli
