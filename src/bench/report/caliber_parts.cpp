#include <algorithm>
#include <array>
#include <tuple>

#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr std::array<std::string_view, 8> kGroups = {"tool", "server", "model",  "engine",
                                                     "host", "device", "method", "option"};
constexpr size_t kDigestShown = 16;

// What says itself what it is stands without its name, and first.
constexpr std::string_view kLeads[] = {"server.kind", "model.id", "host.cpu", "device.name"};

bool is_lead(std::string_view name) {
  return std::find(std::begin(kLeads), std::end(kLeads), name) != std::end(kLeads);
}

struct Fact {
  std::string group;  // "device.0000:03:00.0": each device is a group of its own
  std::string kind;   // "device"
  std::string rest;   // "power_cap_w"
  std::string value;
};

Fact split(const std::string& name, const std::string& value) {
  const size_t dot = name.find('.');
  const std::string kind = name.substr(0, dot);
  const bool is_known = std::find(kGroups.begin(), kGroups.end(), kind) != kGroups.end();
  if (!is_known || dot == std::string::npos) return {"other", "other", name, value};
  std::string rest = name.substr(dot + 1);
  if (kind != "device") return {kind, kind, rest, value};
  const size_t last = rest.rfind('.');  // a bus address has colons and one dot before its function
  if (last == std::string::npos) return {name, kind, rest, value};
  return {kind + "." + rest.substr(0, last), kind, rest.substr(last + 1), value};
}

std::string fact_value(const Fact& fact) {
  if (fact.rest.ends_with("_bytes")) {
    const Text readable = target_value("size_bytes", fact.value);
    return readable.english;
  }
  const bool is_digest = fact.rest.find("hash") != std::string::npos;
  if (is_digest && fact.value.size() > kDigestShown) {
    return shown(fact.value.substr(0, kDigestShown), 40);
  }
  return shown(fact.value, 200);
}

Text fact_text(const Fact& fact) {
  const std::string value = fact_value(fact);
  if (is_lead(fact.kind + "." + fact.rest)) return same(value);
  const std::string name = fact.kind + "." + fact.rest;
  const bool is_known = find_word("caliber." + name) != nullptr;
  return word_or_name("caliber", is_known ? name : fact.rest) + same(" " + value);
}

}  // namespace

std::vector<CaliberPart> caliber_parts(const Caliber& caliber) {
  std::vector<std::string> order(kGroups.begin(), kGroups.end());
  order.emplace_back("other");
  std::vector<Fact> facts;
  for (const auto& [name, value] : caliber) facts.push_back(split(name, value));
  const auto place = [&](const Fact& fact) {
    const auto group = std::find(order.begin(), order.end(), fact.kind) - order.begin();
    return std::tuple(group, fact.group, !is_lead(fact.kind + "." + fact.rest));
  };
  std::stable_sort(facts.begin(), facts.end(),
                   [&](const Fact& a, const Fact& b) { return place(a) < place(b); });

  std::vector<CaliberPart> parts;
  const std::string* group = nullptr;
  for (const Fact& fact : facts) {
    if (group == nullptr || *group != fact.group) {
      Text title = word_or_name("group", fact.kind);
      if (fact.group != fact.kind) {
        title = title + same(" " + shown(fact.group.substr(fact.kind.size() + 1), 40));
      }
      parts.push_back({std::move(title), {}});
      group = &fact.group;
    }
    Text& text = parts.back().facts;
    if (!text.empty()) text = text + Text{", ", "，"};
    text = text + fact_text(fact);
  }
  return parts;
}

}  // namespace evener::bench
