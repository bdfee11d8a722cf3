#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "doctor/text_sections.h"

namespace evener::doctor {
namespace {

constexpr size_t kMatrixCardsMax = 16;
constexpr size_t kPairsMax = 12;  // pairs named in one line

using PairMap = std::map<std::pair<std::string_view, std::string_view>, const PairReport*>;

// Both ways round.
PairMap pair_map(const Report& report) {
  PairMap pairs;
  for (const PairReport& pair : report.pairs) {
    pairs.emplace(std::pair<std::string_view, std::string_view>(pair.a, pair.b), &pair);
    pairs.emplace(std::pair<std::string_view, std::string_view>(pair.b, pair.a), &pair);
  }
  return pairs;
}

// One letter where words would not fit.
std::string letter_of(const PairReport& pair) {
  return pair.verdict == Verdict::unknown ? "?" : std::string(1, word_of(pair).front());
}

struct Columns {
  size_t label = 0;
  size_t cell = 0;
  bool has_words = true;
};

Columns columns_for(const std::vector<std::string>& names, size_t width) {
  Columns columns;
  for (const std::string& name : names) {
    columns.label = std::max(columns.label, columns_of(name));
  }
  const size_t word = std::string_view("degraded").size();
  columns.cell = std::max(columns.label, word) + 2;
  columns.has_words = width == 0 || 2 + columns.label + names.size() * columns.cell <= width;
  if (!columns.has_words) columns.cell = columns.label + 2;
  return columns;
}

std::string padded(std::string_view text, size_t width) {
  std::string result(text);
  const size_t num_columns = columns_of(text);
  if (num_columns < width) result.append(width - num_columns, ' ');
  return result;
}

// Cells of a line, the last one without spaces behind it.
class Cells {
 public:
  Cells(std::string label, const Columns& columns) : columns_(columns) {
    spans_.push_back({.text = padded(label, columns.label), .tone = Tone::strong});
  }
  void add(std::string_view text, Tone tone) {
    if (spans_.size() > 1) spans_.back().text = padded(spans_.back().text, columns_.cell);
    spans_.push_back({.text = "  " + std::string(text), .tone = tone});
  }
  const std::vector<Span>& spans() const { return spans_; }

 private:
  Columns columns_;
  std::vector<Span> spans_;
};

void add_legend(const Report& report, TextPage& page) {
  std::map<std::string, std::string_view> words;
  for (const PairReport& pair : report.pairs) words.emplace(letter_of(pair), word_of(pair));
  std::string text;
  for (const auto& [letter, word] : words) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", letter, word);
  }
  page.paragraph("  ", text, Tone::quiet);
}

void add_matrix(const host::HostFacts& facts, const Report& report, TextPage& page) {
  const PairMap pairs = pair_map(report);
  std::vector<std::string> names;
  for (const host::Gpu& gpu : facts.gpus) names.push_back(short_name(gpu.name));
  const Columns columns = columns_for(names, page.style().width);
  Cells head("", columns);
  for (const std::string& name : names) head.add(name, Tone::strong);
  page.verbatim("  ", head.spans());
  for (size_t i = 0; i < names.size(); ++i) {
    Cells row(names[i], columns);
    for (size_t j = 0; j < names.size(); ++j) {
      const auto found = pairs.find({facts.gpus[i].name, facts.gpus[j].name});
      if (i == j || found == pairs.end()) {
        row.add(i == j ? "-" : "?", Tone::quiet);
      } else {
        const PairReport& pair = *found->second;
        row.add(columns.has_words ? std::string(word_of(pair)) : letter_of(pair), tone_of(pair));
      }
    }
    page.verbatim("  ", row.spans());
  }
  if (!columns.has_words) add_legend(report, page);
}

std::string_view words_of(Route route) {
  switch (route) {
    case Route::same_switch:
      return ", through a switch";
    case Route::root:
      return ", through the host bridge";
    case Route::cross_host:
      return ", from one host bridge to another";
    case Route::unknown:
      return ", by a route that is not known";
  }
  return "";
}

std::string rules_text(const std::vector<std::string>& rules) {
  return rules.empty() ? "" : fmt::format(" ({})", fmt::join(rules, ", "));
}

// Pairs of which the same is to be said.
struct Group {
  const PairReport* first = nullptr;
  std::string names;
  size_t num_pairs = 0;
};

std::vector<Group> groups_of(const Report& report) {
  using Key = std::tuple<Verdict, bool, Route, std::vector<std::string>, std::string>;
  std::map<Key, size_t> indices;
  std::vector<Group> groups;
  for (const PairReport& pair : report.pairs) {
    const auto [found, is_new] = indices.try_emplace(
        Key(pair.verdict, pair.verified, pair.route, pair.rules, pair.because), groups.size());
    if (is_new) groups.push_back({.first = &pair, .names = {}});
    Group& group = groups[found->second];
    if (++group.num_pairs > kPairsMax) continue;
    group.names += fmt::format("{}{}-{}", group.names.empty() ? "" : ", ", short_name(pair.a),
                               short_name(pair.b));
  }
  return groups;
}

void add_group(const Group& group, TextPage& page) {
  const PairReport& pair = *group.first;
  std::string names = group.names;
  if (group.num_pairs > kPairsMax) {
    names += fmt::format(" and {} more", group.num_pairs - kPairsMax);
  }
  const std::vector<Span> spans = {
      {.text = names + ": ", .tone = Tone::strong},
      {.text = std::string(word_of(pair)), .tone = tone_of(pair)},
      {.text = fmt::format("{}{}", words_of(pair.route), rules_text(pair.rules)),
       .tone = Tone::plain}};
  page.paragraph("  ", "    ", spans);
  if (!pair.because.empty()) page.paragraph("    ", pair.because);
  const bool can_copy = pair.verdict != Verdict::blocked;
  if (can_copy && group.num_pairs == 1 && pair.raw_gb_per_s) {
    page.paragraph("    ", fmt::format("the slowest link on the way carries {:.1f} GB/s one way, "
                                       "before any overhead",
                                       *pair.raw_gb_per_s));
  }
}

}  // namespace

Tone tone_of(const PairReport& pair) {
  switch (pair.verdict) {
    case Verdict::works:
      return Tone::good;
    case Verdict::degraded:
    case Verdict::unknown:
      return Tone::caution;
    case Verdict::unsafe:
    case Verdict::blocked:
      return Tone::bad;
  }
  return Tone::plain;
}

void add_pairs(const host::HostFacts& facts, const Report& report, TextPage& page) {
  if (report.pairs.empty()) return;
  page.title("Peer-to-peer, pair by pair");
  if (facts.gpus.size() <= kMatrixCardsMax) {
    add_matrix(facts, report, page);
    page.blank();
  }
  for (const Group& group : groups_of(report)) add_group(group, page);
  if (std::ranges::any_of(report.pairs, is_allowed)) {
    page.paragraph("  ",
                   "allowed: every gate passes and it should work, but nobody has compared the "
                   "bytes that arrive",
                   Tone::quiet);
  }
}

}  // namespace evener::doctor
