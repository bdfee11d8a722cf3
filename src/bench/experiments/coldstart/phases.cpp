#include "bench/experiments/coldstart/phases.h"

#include <algorithm>
#include <charconv>

#include "base/json_fields.h"

namespace evener::bench {
namespace {

constexpr size_t kNumPhasesMax = 16;  // of what a server may tell
constexpr size_t kNameBytesMax = 24;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// "map 8 ms"
std::optional<Phase> read_part(std::string_view part) {
  const size_t space = part.find(' ');
  if (space == std::string_view::npos || !part.ends_with(" ms")) return std::nullopt;
  const std::string_view number = part.substr(space + 1, part.size() - space - 4);
  double milliseconds = -1;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), milliseconds);
  if (error != std::errc() || end != number.data() + number.size() || !(milliseconds >= 0) ||
      !is_name(part.substr(0, space)))
    return std::nullopt;
  return Phase{.name = std::string(part.substr(0, space)), .time = Seconds(milliseconds / 1000)};
}

}  // namespace

Health read_health(const HttpAnswer& answer) {
  Health health{.is_ready = answer.status == 200, .pid = {}, .phase = {}};
  const auto body = json::parse(answer.body, "/health");
  if (!body || !body->is_object()) return health;
  const auto fields = json::Fields::of(*body, "/health");
  if (!fields) return health;
  constexpr uint64_t kPidMax = 1 << 22;
  if (const auto pid = fields->get_uint("pid", kPidMax)) health.pid = pid_t(*pid);
  if (const auto progress = fields->get_object("progress")) {
    const auto phase = progress->get_string("phase");
    if (phase && is_name(*phase)) health.phase = *phase;
  }
  return health;
}

std::vector<Phase> phases_of_log(std::string_view log) {
  constexpr std::string_view kMark = "start: ";
  const size_t mark = log.rfind(kMark);
  if (mark == std::string_view::npos) return {};
  std::string_view line = log.substr(mark + kMark.size());
  line = line.substr(0, std::min(line.find('\n'), line.find(';')));
  std::vector<Phase> phases;
  while (!line.empty() && phases.size() < kNumPhasesMax) {
    const size_t comma = std::min(line.find(", "), line.size());
    const auto phase = read_part(line.substr(0, comma));
    if (!phase) return {};
    if (phase->name != "listen") phases.push_back(*phase);  // seen from outside
    line.remove_prefix(std::min(comma + 2, line.size()));
  }
  return phases;
}

void StartClock::saw(const Health& health, Clock::time_point at) {
  if (!listens_) listens_ = at;
  if (health.is_ready && !ready_) ready_ = at;
  if (health.phase.empty() || seen_.size() >= kNumPhasesMax) return;
  const bool known = std::any_of(seen_.begin(), seen_.end(),
                                 [&](const Seen& seen) { return seen.phase == health.phase; });
  if (!known) seen_.push_back({.phase = health.phase, .at = at});
}

std::vector<Phase> StartClock::phases(const std::vector<Phase>& told,
                                      Clock::time_point first_token) const {
  const Clock::time_point listens = listens_.value_or(first_token);
  const Clock::time_point ready = std::max(listens, ready_.value_or(first_token));
  std::vector<Phase> phases = {{.name = "process", .time = listens - began_}};
  std::vector<Phase> loading = told;
  if (loading.empty()) {
    for (size_t i = 0; i < seen_.size(); ++i) {
      const Clock::time_point end = i + 1 < seen_.size() ? seen_[i + 1].at : ready;
      loading.push_back({.name = seen_[i].phase, .time = end - seen_[i].at});
    }
  }
  Seconds rest = ready - listens;
  for (const Phase& phase : loading) rest -= phase.time;
  if (loading.empty()) {
    phases.push_back({.name = "load", .time = rest});
  } else {
    // A server that loads before anybody has seen it listen.
    if (rest < Seconds(0)) phases.front().time = std::max(Seconds(0), phases.front().time + rest);
    phases.insert(phases.end(), loading.begin(), loading.end());
    phases.push_back({.name = "rest", .time = std::max(rest, Seconds(0))});
  }
  phases.push_back({.name = "first_token", .time = first_token - ready});
  return phases;
}

}  // namespace evener::bench
