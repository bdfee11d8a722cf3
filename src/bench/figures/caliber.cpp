#include "bench/caliber.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <set>

namespace evener::bench {
namespace {

using enum CaliberRule;

struct Rule {
  std::string_view name;  // ends in '.': all below it
  CaliberRule rule;
};

// The longest name that fits decides. What nobody knows must match: the careful side.
constexpr auto kRules = std::to_array<Rule>({
    {"tool.", for_readers},
    {"client.", for_readers},  // the machine that only asks
    {"server.", under_test},
    {"server.url_kind", must_match},  // loopback or a network between
    {"engine.", under_test},
    {"host.kernel", under_test},
    {"host.facts_hash", for_readers},  // changes with any fact; those that matter have names
    {"host.swap", for_readers},
    {"method.rounds", for_readers},
    {"method.client_priority", for_readers},
    // Which points of a table were measured: those of both runs are compared.
    {"option.timeout_ms", for_readers},
    {"option.coldstart.command", under_test},
    {"option.coldstart.unit", under_test},
    {"option.sweep.lengths", for_readers},
    {"option.concurrency.levels", for_readers},
    {"option.load.rates", for_readers},
    {"option.starvation.attackers", for_readers},
    {"option.quality.needle_lengths", for_readers},
    {"option.link.sizes_bytes", for_readers},
});

// "device.0000:03:00.0.driver": the bus address has dots of its own.
bool is_device_driver(std::string_view name) {
  return name.starts_with("device.") && name.ends_with(".driver");
}

// A file's hash says what its name only claims, and servers name one file differently.
bool is_replaced_by_hash(std::string_view name, const Caliber& caliber) {
  return name == "model.id" && caliber.contains("model.hash");
}

// Servers of two makes do not tell the same about their model: what only one of them says cannot
// forbid what comparisons are made for. Its name and quantisation still have to agree.
bool is_told_by_one_make(const CaliberDifference& difference, const Caliber& a, const Caliber& b) {
  if (!difference.in_a.empty() && !difference.in_b.empty()) return false;
  if (!difference.name.starts_with("model.") || difference.name == "model.id") return false;
  const auto kind_a = a.find("server.kind");
  const auto kind_b = b.find("server.kind");
  return kind_a != a.end() && kind_b != b.end() && kind_a->second != kind_b->second;
}

}  // namespace

CaliberRule caliber_rule(std::string_view name) {
  if (is_device_driver(name)) return under_test;
  size_t length = 0;
  CaliberRule rule = must_match;
  for (const Rule& candidate : kRules) {
    const bool fits =
        candidate.name.ends_with('.') ? name.starts_with(candidate.name) : name == candidate.name;
    if (!fits || candidate.name.size() < length) continue;
    length = candidate.name.size();
    rule = candidate.rule;
  }
  return rule;
}

std::string caliber_hash(const Caliber& caliber) {
  std::string text;
  for (const auto& [name, value] : caliber) {
    if (caliber_rule(name) != must_match || is_replaced_by_hash(name, caliber)) continue;
    text += fmt::format("{}:{}={}:{}\n", name.size(), name, value.size(), value);
  }
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::vector<CaliberDifference> differences(const Caliber& a, const Caliber& b) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : a) names.insert(name);
  for (const auto& [name, value] : b) names.insert(name);

  const auto value_of = [](const Caliber& caliber, std::string_view name) {
    const auto found = caliber.find(std::string(name));
    return found == caliber.end() ? std::string() : found->second;
  };
  std::vector<CaliberDifference> out;
  for (const std::string_view name : names) {
    CaliberDifference difference = {.name = std::string(name),
                                    .in_a = value_of(a, name),
                                    .in_b = value_of(b, name),
                                    .rule = caliber_rule(name)};
    if (difference.in_a == difference.in_b) continue;
    if (is_replaced_by_hash(name, a) && is_replaced_by_hash(name, b)) difference.rule = for_readers;
    if (is_told_by_one_make(difference, a, b)) difference.rule = for_readers;
    out.push_back(std::move(difference));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
    return x.rule < y.rule;  // those that forbid a comparison first
  });
  return out;
}

}  // namespace evener::bench
