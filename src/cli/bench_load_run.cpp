#include "cli/bench_load_run.h"

#include "cli/bench_store_option.h"

namespace evener::cli {

Result<bench::Store> open_store(const std::filesystem::path& store) {
  ASSIGN_OR_RETURN(const std::filesystem::path file, store_file(store));
  return bench::Store::open(file);
}

Result<bench::Run> load_run(const std::filesystem::path& store, const std::string& words) {
  ASSIGN_OR_RETURN(bench::Store opened, open_store(store));
  ASSIGN_OR_RETURN(const std::string id, opened.find(words));
  return opened.load(id);
}

}  // namespace evener::cli
