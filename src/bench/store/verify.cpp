#include "bench/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.h"

namespace evener::bench {
namespace {

// Sums may be taken in another order by another compiler.
constexpr double kRounding = 1e-9;

bool is_same(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) <= kRounding * std::max(std::abs(*a), std::abs(*b)) || *a == *b;
}

struct Field {
  const char* name = nullptr;
  std::optional<double> value;
};

std::array<Field, 12> fields_of(const Summary& s) {
  return {{{"n", double(s.n)},
           {"mean", s.mean},
           {"sd", s.sd},
           {"min", s.min},
           {"p5", s.p5},
           {"p50", s.p50},
           {"p90", s.p90},
           {"p95", s.p95},
           {"p99", s.p99},
           {"max", s.max},
           {"ci95 low", s.ci95 ? std::optional(s.ci95->low) : std::nullopt},
           {"ci95 high", s.ci95 ? std::optional(s.ci95->high) : std::nullopt}}};
}

std::string written(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : std::string("none");
}

class Verifier {
 public:
  void compare(const std::string& cell, const CellFigures& stored, const CellFigures& computed) {
    for (const auto& [key, summary] : computed) {
      const auto found = stored.find(key);
      if (found == stored.end()) {
        say(cell, key, "none is stored, the records give one");
      } else {
        compare(cell, key, found->second, summary);
      }
    }
    for (const auto& [key, summary] : stored) {
      if (!computed.contains(key)) say(cell, key, "one is stored, the records give none");
    }
  }

  std::vector<std::string> take() { return std::move(sentences_); }

  void say(const std::string& cell, const std::string& key, const std::string& what) {
    sentences_.push_back(
        fmt::format("cell {}, {}: {}", printable(cell, 80), printable(key, 60), what));
  }

 private:
  // The first field that differs: the others follow from it.
  void compare(const std::string& cell, const std::string& key, const Summary& stored,
               const Summary& computed) {
    const auto of_stored = fields_of(stored);
    const auto of_computed = fields_of(computed);
    for (size_t i = 0; i < of_stored.size(); ++i) {
      if (is_same(of_stored[i].value, of_computed[i].value)) continue;
      say(cell, key,
          fmt::format("{} is stored as {}, the records give {}", of_stored[i].name,
                      written(of_stored[i].value), written(of_computed[i].value)));
      return;
    }
  }

  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> verify_figures(const Run& run,
                                        const std::map<std::string, CellFigures>& stored) {
  Verifier verifier;
  std::set<std::string> cells;
  for (const CellRecord& cell : run.cells) {
    cells.insert(cell.key);
    const auto found = stored.find(cell.key);
    verifier.compare(cell.key, found == stored.end() ? CellFigures() : found->second,
                     cell_figures(cell, run.requests, run.values));
  }
  for (const auto& [cell, figures] : stored) {
    if (!cells.contains(cell)) verifier.say(cell, "figures", "are stored of a cell that is not");
  }
  return verifier.take();
}

}  // namespace evener::bench
