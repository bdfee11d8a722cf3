#include "doctor/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "doctor/advice.h"
#include "doctor/case.h"
#include "doctor/findings.h"
#include "doctor/gaps.h"
#include "doctor/kernel_help.h"
#include "doctor/links.h"
#include "doctor/power.h"
#include "doctor/rates.h"
#include "doctor/rules.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr size_t kGapsShown = 3;

bool has(const Pair& pair, const Card& card) { return pair.a == &card || pair.b == &card; }

// Lets every rule speak in its turn, and keeps what it says of the pairs.
class Judging {
 public:
  explicit Judging(Case& c) : c_(c) {}

  void apply(const Rule& rule) {
    if (rule.machine != nullptr) {
      if (auto found = rule.machine(c_)) findings_.add(rule.id, *std::move(found));
    }
    if (rule.card != nullptr) {
      for (const Card& card : c_.cards) apply(rule, card);
    }
    if (rule.pair != nullptr) {
      for (Pair& pair : c_.pairs) apply(rule, pair);
    }
  }

  Findings take() && { return std::move(findings_); }

 private:
  void apply(const Rule& rule, const Card& card) {
    auto outcome = rule.card(c_, card);
    if (!outcome) return;
    for (Pair& pair : c_.pairs) {
      if (!has(pair, card) || (rule.is_cause && pair.route_refused)) continue;
      const Card& other = pair.a == &card ? *pair.b : *pair.a;
      outcome->finding.pairs.push_back(other.name() + ">" + card.name());
      mark(rule, *outcome, pair);
    }
    add_new(outcome->finding.gpus, card.name());
    findings_.add(rule.id, std::move(outcome->finding));
  }

  void apply(const Rule& rule, Pair& pair) {
    auto outcome = rule.pair(c_, pair);
    if (!outcome) return;
    mark(rule, *outcome, pair);
    Finding& found = outcome->finding;
    if (found.pairs.empty()) found.pairs.push_back(pair.name());
    add_new(found.gpus, pair.a->name());
    add_new(found.gpus, pair.b->name());
    findings_.add(rule.id, std::move(found));
  }

  static void mark(const Rule& rule, const Outcome& outcome, Pair& pair) {
    if (outcome.decides) add_new(pair.rules, std::string(rule.id));
    if (outcome.refuses_route) pair.route_refused = true;
    const bool decides = outcome.verdict > pair.verdict;
    const bool is_first_word = pair.because.empty() && outcome.decides;
    if (decides || is_first_word) pair.because = outcome.finding.title;
    pair.verdict = std::max(pair.verdict, outcome.verdict);
  }

  Case& c_;
  Findings findings_;
};

std::string gaps_text(const Pair& pair) {
  std::vector<std::string> shown(
      pair.gaps.begin(),
      pair.gaps.begin() + static_cast<ptrdiff_t>(std::min(pair.gaps.size(), kGapsShown)));
  std::string text = "Not known: " + fmt::format("{}", fmt::join(shown, "; "));
  if (pair.gaps.size() > kGapsShown) {
    text += fmt::format("; and {} more", pair.gaps.size() - kGapsShown);
  }
  return text;
}

// The last word on a pair, when all rules have spoken.
void conclude(const Case& c, Pair& pair) {
  std::ranges::sort(pair.rules);
  if (pair.has("R82")) {
    pair.verdict = Verdict::unknown;
    pair.because = "What the driver reports contradicts these rules";
    return;
  }
  const bool is_open = pair.verdict <= Verdict::unknown && !c.has_passed_check() && !c.is_guest &&
                       !pair.gaps.empty() && pair.peers != Observation::allowed;
  if (is_open && pair.peers == Observation::refused) {
    pair.verdict = Verdict::blocked;
    pair.because = "The driver reports no peer access; which gate refuses it cannot be told yet. " +
                   gaps_text(pair);
  } else if (is_open) {
    pair.verdict = Verdict::unknown;
    pair.because = gaps_text(pair);
  } else if (pair.has("R81")) {
    pair.because = "A data check passed";
  } else if (pair.verdict == Verdict::works) {
    pair.because = "Should work, not verified: no data check was seen";
  }
}

PairReport report_on(const Case& c, const Pair& pair, bool trusts_links) {
  PairReport report;
  report.a = pair.a->name();
  report.b = pair.b->name();
  report.verdict = pair.verdict;
  report.verified = pair.has("R81") && pair.verdict <= Verdict::degraded;
  report.route = pair.route;
  report.rules = pair.rules;
  report.because = pair.because;
  if (trusts_links && !c.is_guest) {
    report.raw_gb_per_s = raw_of_path(*pair.a, *pair.b, pair.path);
  }
  return report;
}

// Cards since RDNA 2 offer a BAR as large as their VRAM; of older ones it depends on the VBIOS.
bool offers_all(const Card& card) {
  const std::string_view gfx = card.gpu->gfx;
  return gfx.starts_with("gfx103") || gfx.starts_with("gfx11") || gfx.starts_with("gfx12");
}

std::vector<BarReport> bar_reports(const Case& c) {
  std::vector<BarReport> bars;
  for (const Card& card : c.cards) {
    if (!card.bar_bytes || !card.need_bytes) continue;
    BarReport& bar = bars.emplace_back();
    bar.gpu = card.name();
    bar.now_bytes = card.bar_bytes;
    bar.need_bytes = card.need_bytes;
    bar.max_bytes = card.bar_bytes_max;
    if (!bar.max_bytes && !c.is_guest && offers_all(card)) bar.max_bytes = card.bar_wanted;
  }
  return bars;
}

std::vector<LinkReport> link_reports(const Case& c) {
  std::vector<LinkReport> links;
  for (const Card& card : c.cards) {
    if (card.function != nullptr) links.push_back(link_report(card));
  }
  return links;
}

std::string pairs_text(const std::vector<PairReport>& pairs) {
  if (pairs.size() == 1) return std::string(word_of(pairs.front()));
  std::vector<std::string> parts;
  for (const std::string_view word :
       {"works", "allowed", "degraded", "unknown", "unsafe", "blocked"}) {
    const auto number = std::ranges::count(pairs, word, word_of);
    if (number > 0) parts.push_back(fmt::format("{} {}", number, word));
  }
  return list_text(parts);
}

std::string summary_of(const Case& c, const std::vector<PairReport>& pairs) {
  if (c.facts.gpus.empty()) return "No GPU was found.";
  if (c.cards.size() == 1) return "One GPU: there is no pair to judge.";
  std::string text = fmt::format("{} GPUs, {} pair{}: {}.", c.facts.gpus.size(), c.pairs.size(),
                                 c.pairs.size() == 1 ? "" : "s", pairs_text(pairs));
  if (c.facts.gpus.size() > c.cards.size()) {
    text += fmt::format(" Only the first {} cards were judged.", c.cards.size());
  }
  if (c.pairs.size() == 1) text += " " + c.pairs.front().because + ".";
  return text;
}

void judge(Case& c, Findings& findings) {
  Judging judging(c);
  for (const Rule* rule : gate_rules()) judging.apply(*rule);
  for (Pair& pair : c.pairs) pair.gaps = find_gaps(c, pair);
  for (const Rule* rule : verification_rules()) judging.apply(*rule);
  for (Pair& pair : c.pairs) conclude(c, pair);
  findings = std::move(judging).take();
}

}  // namespace

Report diagnose(const host::HostFacts& facts) {
  Case c(facts);
  Findings findings;
  judge(c, findings);

  Report report;
  const bool trusts_links = !contradicts(c);
  for (const Pair& pair : c.pairs) report.pairs.push_back(report_on(c, pair, trusts_links));
  report.findings = std::move(findings).sorted();
  report.bars = bar_reports(c);
  report.links = link_reports(c);
  if (trusts_links && !c.is_guest) report.bottleneck = slowest_hop(c);
  report.fixes = order_of_fixes(report.findings);
  if (std::ranges::count(c.pairs, Verdict::unknown, &Pair::verdict) > 0)
    add_new(report.fixes, std::string("F00"));
  report.advice = advise(c);
  report.power = estimate_power(c);
  report.kernel_help = kernel_help(c, report.fixes);
  report.summary = summary_of(c, report.pairs);
  return report;
}

}  // namespace evener::doctor
