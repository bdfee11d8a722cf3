#include "cli/saved_facts.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/environment.h"
#include "base/private_file.h"
#include "host/facts_json.h"
#include "host/read_facts.h"

namespace evener::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kStartsMax = 10;
constexpr const char* kSaving = "save the facts for --verify";

fs::path doctor_folder() {
  const fs::path folder = state_folder();
  return folder.empty() ? fs::path() : folder / "doctor";
}

// Changes with every start of the machine; a name for a file.
std::string start_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  const bool is_name = !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
  });
  return is_name ? id : "unknown";
}

Error cannot_save(const fs::path& path, std::string why) {
  return {.code = Code::permission_denied,
          .doing = kSaving,
          .where = path.string(),
          .why = std::move(why),
          .remedy = "set XDG_STATE_HOME to a folder that may be written"};
}

struct Start {
  fs::path path;
  fs::file_time_type time;
};

// What is saved, the latest first.
std::vector<Start> saved_starts(const fs::path& folder) {
  std::vector<Start> starts;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() != ".json") continue;
    starts.push_back({.path = entry->path(), .time = entry->last_write_time(ignored)});
  }
  std::ranges::sort(starts, [](const Start& a, const Start& b) {
    return a.time != b.time ? a.time > b.time : a.path < b.path;
  });
  return starts;
}

void forget_old(const fs::path& folder) {
  const std::vector<Start> starts = saved_starts(folder);
  for (size_t i = kStartsMax; i < starts.size(); ++i) {
    std::error_code ignored;
    fs::remove(starts[i].path, ignored);
  }
}

}  // namespace

Result<fs::path> save_facts(const host::HostFacts& facts) {
  const fs::path folder = doctor_folder();
  if (folder.empty()) return cannot_save("HOME", "it is not set");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return cannot_save(folder, error.message());
  fs::permissions(folder, fs::perms::owner_all, error);
  const fs::path path = folder / (start_id() + ".json");
  const Status written = write_private_file(path, host::facts_to_json(facts), kSaving);
  if (!written) return cannot_save(path, written.error().why);
  forget_old(folder);
  return path;
}

Result<SavedFacts> earlier_facts() {
  const std::vector<Start> starts = saved_starts(doctor_folder());
  if (starts.empty()) {
    return Error{.code = Code::not_found,
                 .doing = "compare with earlier facts",
                 .where = doctor_folder().string(),
                 .why = "nothing has been saved there",
                 .remedy =
                     "run evener doctor before the change, or name a file: "
                     "evener doctor --verify EARLIER"};
  }
  const std::string present = start_id();
  const auto found = std::ranges::find_if(
      starts, [&](const Start& start) { return start.path.stem() != present; });
  const fs::path& path = found == starts.end() ? starts.front().path : found->path;
  ASSIGN_OR_RETURN(host::HostFacts facts, host::read_facts(path));
  return SavedFacts{.facts = std::move(facts), .path = path};
}

}  // namespace evener::cli
