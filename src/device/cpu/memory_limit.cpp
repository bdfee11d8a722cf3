#include "device/cpu/memory_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace evener::device::cpu {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// The number that the file opens with; nothing for "max" or a file that is not there.
std::optional<size_t> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return {};
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// The number behind `key` in a file of "key number" lines; 0 if there is none.
size_t read_entry(const std::filesystem::path& path, std::string_view key) {
  std::ifstream file(path);
  std::string name;
  size_t number = 0;
  while (file >> name >> number) {
    if (name == key) return number;
  }
  return 0;
}

struct FileNames {
  const char* limit;
  const char* usage;
  const char* cache_key;  // in memory.stat: file pages, which the kernel takes back when asked
};

void narrow(CgroupMemory& memory, const std::filesystem::path& group, const FileNames& names) {
  const std::optional<size_t> limit = read_number(group / names.limit);
  if (!limit) return;
  memory.limit_bytes = std::min(memory.limit_bytes, *limit);
  const size_t usage = read_number(group / names.usage).value_or(0);
  const size_t used = usage - std::min(usage, read_entry(group / "memory.stat", names.cache_key));
  memory.free_bytes = std::min(memory.free_bytes, *limit - std::min(used, *limit));
}

// The group and all above it: a limit holds for everything below. In a container the group's path
// may not exist; then only what exists above it counts.
void narrow_upwards(CgroupMemory& memory, const std::filesystem::path& mount,
                    std::filesystem::path group, const FileNames& names) {
  for (;;) {
    narrow(memory, mount / group.relative_path(), names);
    if (group.relative_path().empty()) return;
    group = group.parent_path();
  }
}

size_t rlimit_bytes(int resource) {
  rlimit limit{};
  if (getrlimit(__rlimit_resource_t(resource), &limit) != 0) return kNoLimit;
  return limit.rlim_cur == RLIM_INFINITY ? kNoLimit : size_t(limit.rlim_cur);
}

size_t physical_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? size_t(pages) * size_t(page_bytes) : kNoLimit;
}

size_t mem_available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::string unit;
  size_t kib = 0;
  while (file >> key >> kib && std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return kNoLimit;
}

}  // namespace

// Lines are "number:controllers:path"; v2 has number 0 and no controllers.
CgroupMemory read_cgroup_memory(const std::filesystem::path& root) {
  CgroupMemory memory{.limit_bytes = kNoLimit, .free_bytes = kNoLimit};
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers =
        fmt::format(",{},", std::string_view(line).substr(first + 1, second - first - 1));
    const std::filesystem::path group = line.substr(second + 1);
    if (controllers == ",,") {
      narrow_upwards(memory, root / "sys/fs/cgroup", group,
                     {"memory.max", "memory.current", "file"});
    } else if (controllers.find(",memory,") != std::string::npos) {
      narrow_upwards(memory, root / "sys/fs/cgroup/memory", group,
                     {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"});
    }
  }
  return memory;
}

size_t memory_limit_bytes() {
  return std::min({physical_bytes(), read_cgroup_memory("/").limit_bytes, rlimit_bytes(RLIMIT_AS),
                   rlimit_bytes(RLIMIT_DATA)});
}

size_t available_memory_bytes() {
  return std::min(mem_available_bytes(), read_cgroup_memory("/").free_bytes);
}

}  // namespace evener::device::cpu
