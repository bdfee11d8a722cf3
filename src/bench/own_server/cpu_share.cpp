#include "bench/cpu_share.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace evener::bench {
namespace {

constexpr size_t kCoresMin = 4;

// The number that `text` begins with, which is taken away from it.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= CPU_SETSIZE) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "0,64" or "0-1". What is no list gives what stood before the fault.
std::set<int> read_list(std::string_view text) {
  std::set<int> cpus;
  while (const auto first = take_number(text)) {
    int last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text).value_or(*first);
    }
    for (int cpu = *first; cpu <= last; ++cpu) cpus.insert(cpu);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return cpus;
}

std::set<int> threads_of_core(int cpu, const host::FileTree& files) {
  const auto list = files.read_line(
      fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::set<int> cpus = read_list(list.value_or(""));
  cpus.insert(cpu);
  return cpus;
}

}  // namespace

CpuShare share_cpus(const std::vector<int>& allowed, const host::FileTree& files) {
  std::set<std::set<int>> cores;
  for (const int cpu : allowed) cores.insert(threads_of_core(cpu, files));
  if (cores.size() < kCoresMin) return {};
  const std::set<int> of_client = threads_of_core(std::ranges::max(allowed), files);
  CpuShare share;
  for (const int cpu : allowed) {
    (of_client.contains(cpu) ? share.client : share.server).push_back(cpu);
  }
  return share;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

bool limit_this_thread(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

CpuLimit::CpuLimit(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  std::vector<int> before = allowed_cpus();
  if (limit_this_thread(cpus)) before_ = std::move(before);
}

CpuLimit::~CpuLimit() {
  if (!before_.empty()) limit_this_thread(before_);
}

}  // namespace evener::bench
