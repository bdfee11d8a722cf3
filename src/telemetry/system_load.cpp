#include "telemetry/system_load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "host/text_lines.h"
#include "telemetry/quantity.h"

namespace evener::telemetry {
namespace {

constexpr Quantity kLoad{1, 0, 1e6};
constexpr size_t kStatMax = size_t{1} << 20;  // a line of interrupts may be long
constexpr uint64_t kTicksMax = uint64_t{1} << 56;
// A tick is 10 ms: shares over a shorter time say nothing.
constexpr std::chrono::milliseconds kUsePause{250};

// "avg10=0.12" of the line "some".
std::optional<double> pressure_in(std::string_view text) {
  const auto share = host::between(text, "some avg10=", " ");
  return share ? quantity_of(*share, kPercent) : std::nullopt;
}

// The number behind `key` at the beginning of a line.
std::optional<uint64_t> number_behind(std::string_view text, std::string_view key) {
  std::optional<uint64_t> number;
  host::each_line(text, [&](std::string_view line) {
    if (!number && line.starts_with(key)) {
      number = host::leading_uint(host::trim(line.substr(key.size())));
    }
  });
  return number;
}

size_t count_cpus(std::string_view stat) {
  size_t count = 0;
  host::each_line(stat, [&](std::string_view line) {
    if (line.starts_with("cpu") && line.size() > 3 && line[3] != ' ') ++count;
  });
  return count;
}

// User and system time of a process, fields 14 and 15; its name before them may hold anything.
std::optional<uint64_t> process_ticks(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  const auto fields = host::words(stat.substr(name_end + 1));
  if (fields.size() < 13) return {};
  const auto user = host::parse_uint(fields[11]);
  const auto system = host::parse_uint(fields[12]);
  if (!user || !system || *user > kTicksMax || *system > kTicksMax) return {};
  return *user + *system;
}

}  // namespace

SystemLoad::SystemLoad(const host::FileTree& files, std::vector<int> own_processes)
    : own_processes_(std::move(own_processes)),
      num_cpus_(count_cpus(files.read("proc/stat", kStatMax).value_or(""))) {}

void SystemLoad::read(const host::FileTree& files, std::chrono::steady_clock::time_point now,
                      HostReading& reading) {
  if (const auto line = files.read_line("proc/loadavg")) {
    reading.load_average = quantity_of(line->substr(0, line->find(' ')), kLoad);
  }
  if (const auto text = files.read("proc/pressure/cpu", 4096)) {
    reading.cpu_pressure = pressure_in(*text);
  }
  if (const auto text = files.read("proc/meminfo", 65'536)) {
    const auto kib = number_behind(*text, "MemAvailable:");
    if (kib && *kib <= uint64_t{1} << 40) reading.memory_available_bytes = *kib << 10;
  }
  if (const auto text = files.read("proc/vmstat", 65'536)) {
    reading.pages_swapped_in = number_behind(*text, "pswpin ");
  }
  read_use(files, now, reading);
}

std::optional<SystemLoad::Ticks> SystemLoad::ticks_in(std::string_view stat) {
  if (!stat.starts_with("cpu ")) return {};
  // user, nice, system, idle, waiting, two kinds of interrupts, stolen; guests are part of user.
  uint64_t fields[8] = {};
  const auto words = host::words(host::before(stat, "\n").substr(4));
  if (words.size() < std::size(fields)) return {};
  for (size_t i = 0; i < std::size(fields); ++i) {
    const auto ticks = host::parse_uint(words[i]);
    if (!ticks || *ticks > kTicksMax) return {};
    fields[i] = *ticks;
  }
  return Ticks{.busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6],
               .idle = fields[3] + fields[4],
               .stolen = fields[7]};
}

std::optional<uint64_t> SystemLoad::own_ticks(const host::FileTree& files) const {
  if (own_processes_.empty()) return {};
  uint64_t sum = 0;
  for (const int process : own_processes_) {
    const auto stat = files.read_line(fmt::format("proc/{}/stat", process));
    const auto ticks = stat ? process_ticks(*stat) : std::nullopt;
    if (!ticks) return {};
    sum += *ticks;
  }
  return sum;
}

void SystemLoad::read_use(const host::FileTree& files, std::chrono::steady_clock::time_point now,
                          HostReading& reading) {
  if (before_ && now - before_at_ < kUsePause) return;
  const auto ticks = ticks_in(files.read("proc/stat", kStatMax).value_or(""));
  if (ticks && before_ && ticks->busy >= before_->busy && ticks->stolen >= before_->stolen &&
      ticks->all() > before_->all()) {
    const double cpus_a_tick = double(num_cpus_) / double(ticks->all() - before_->all());
    reading.cpus_busy = double(ticks->busy - before_->busy) * cpus_a_tick;
    reading.cpus_stolen = double(ticks->stolen - before_->stolen) * cpus_a_tick;
  }
  before_ = ticks;

  const auto own = own_ticks(files);
  const double seconds = std::chrono::duration<double>(now - before_at_).count();
  if (own && own_before_ && *own >= *own_before_ && seconds > 0) {
    const double ticks_a_second = double(::sysconf(_SC_CLK_TCK));
    reading.cpus_own = double(*own - *own_before_) / ticks_a_second / seconds;
  }
  own_before_ = own;
  before_at_ = now;
}

}  // namespace evener::telemetry
