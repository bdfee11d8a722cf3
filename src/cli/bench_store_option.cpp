#include "cli/bench_store_option.h"

#include <system_error>

#include "base/environment.h"

namespace evener::cli {
namespace {

Error no_folder(Code code, const std::filesystem::path& folder, std::string why) {
  return {.code = code,
          .doing = "open the store of results",
          .where = folder.string(),
          .why = std::move(why),
          .remedy = "name a file with --store"};
}

}  // namespace

void add_store_option(CommandLine& line, std::filesystem::path& store) {
  line.add("--store", store,
           "file that results are added to and read from; default: evener/bench.sqlite in "
           "$XDG_DATA_HOME or ~/.local/share");
}

Result<std::filesystem::path> store_file(const std::filesystem::path& store) {
  if (!store.empty()) return store;
  const std::filesystem::path folder = data_folder();
  if (folder.empty()) {
    return no_folder(Code::not_found, {}, "neither XDG_DATA_HOME nor HOME names a folder");
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return no_folder(Code::permission_denied, folder, error.message());
  return folder / "bench.sqlite";
}

}  // namespace evener::cli
