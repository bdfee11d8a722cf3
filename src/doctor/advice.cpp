#include "doctor/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "doctor/links.h"
#include "doctor/rates.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

// The example: what a 27 to 32 billion parameter model has.
constexpr double kLayers = 64;
constexpr double kChannels = 5120;
constexpr double kBytesPerValue = 2;
constexpr double kTokenBytes = kChannels * kBytesPerValue;
constexpr double kPromptTokens = 1000;

// Shares of the raw rate that copies were seen to reach. pci-p2p.md, 5.1 and R76.
constexpr double kSwitchShare = 0.85;
constexpr double kSlowRootShare = 0.45;
// Through the host's memory each byte passes a link twice, one after the other.
constexpr double kStagedShare = 0.85 / 2;
// Below this the sums of a prompt take longer than what two cards save in computing it.
constexpr double kTensorParallelMin = 2;  // GB/s
constexpr double kSumMicros = 20;         // what one small sum takes between peers

bool lets_peers(const Pair& pair) { return pair.verdict <= Verdict::degraded; }

double share_of(const Case& c, const Pair& pair) {
  if (!lets_peers(pair)) return kStagedShare;
  const bool is_slow = pair.route != Route::same_switch && has_slow_root(c);
  return is_slow ? kSlowRootShare : kSwitchShare;
}

std::string rate_line(const Case& c, const Pair& pair, double raw) {
  return fmt::format("{}: {} raw x {} ({}) = {}", pair.name(), rate_text(raw), share_of(c, pair),
                     lets_peers(pair) ? "peers, as measured on such routes"
                                      : "through host memory: each byte passes twice",
                     rate_text(raw * share_of(c, pair)));
}

std::string prompt_line(double gb_per_s) {
  // A ring sends each rank 2 (n-1)/n of the data; for two ranks that is once.
  const double gigabytes = 2 * kLayers * kTokenBytes * kPromptTokens / 1e9;
  return fmt::format(
      "64 layers x 2 sums x 5120 values x 2 bytes = {:.2f} MB a token; a prompt of 1000 tokens: "
      "{:.2f} GB, {:.2f} s at {}",
      2 * kLayers * kTokenBytes / 1e6, gigabytes, gigabytes / gb_per_s, rate_text(gb_per_s));
}

std::string latency_line() {
  return fmt::format(
      "64 layers x 2 sums x {:.0f} us (assumed) = {:.1f} ms a token, against half the time that "
      "one card takes to read the weights",
      kSumMicros, 2 * kLayers * kSumMicros / 1000);
}

std::string vram_line(const std::vector<const Card*>& cards) {
  std::vector<std::string> sizes;
  uint64_t sum = 0;
  for (const Card* card : cards) {
    if (!card->need_bytes) return {};
    sum += *card->need_bytes / kMiB;
    sizes.push_back(fmt::format("{:.1f}", static_cast<double>(*card->need_bytes) / kGiB));
  }
  return fmt::format("VRAM: {} = {:.1f} GiB", fmt::join(sizes, " + "),
                     static_cast<double>(sum) / 1024);
}

void add_line(std::vector<std::string>& lines, std::string line) {
  if (!line.empty()) lines.push_back(std::move(line));
}

// Two cards of a kind, best connected: more than two are advised in powers of two by the engine.
struct Team {
  const Pair* pair = nullptr;
  std::optional<double> raw;
};

bool is_alike(const Pair& pair) {
  return pair.a->gpu->model == pair.b->gpu->model && pair.a->need_bytes == pair.b->need_bytes;
}

bool is_better(const Team& a, const Team& b) {
  if (b.pair == nullptr) return true;
  if (a.pair->verdict != b.pair->verdict) return a.pair->verdict < b.pair->verdict;
  if (a.raw != b.raw) return a.raw.value_or(0) > b.raw.value_or(0);
  return a.pair->a->need_bytes.value_or(0) > b.pair->a->need_bytes.value_or(0);
}

Team best_team(const Case& c) {
  Team best;
  for (const Pair& pair : c.pairs) {
    if (!is_alike(pair)) continue;
    const Team team{&pair, raw_of_path(*pair.a, *pair.b, pair.path)};
    if (is_better(team, best)) best = team;
  }
  return best;
}

struct Ranked {
  ModeAdvice advice;
  int rank = 0;  // smaller is better
};

std::string why_tensor(const Pair& pair, std::optional<double> rate) {
  if (pair.verdict == Verdict::unsafe) return "Not before the findings about safety are cleared.";
  if (pair.verdict == Verdict::unknown) {
    return "Whether these two let each other in is not known: measure before choosing it.";
  }
  if (pair.verdict == Verdict::blocked) {
    return "Sums go through host memory: each token waits for them, and prompts are slow.";
  }
  if (rate && *rate < kTensorParallelMin) return "Peers work, but the path is slow for the sums.";
  return "Both cards read their half of the weights at once: the shortest time a token.";
}

int rank_tensor(const Pair& pair, std::optional<double> rate) {
  if (!lets_peers(pair)) return pair.verdict == Verdict::unsafe ? 5 : 4;
  return rate && *rate < kTensorParallelMin ? 3 : 1;
}

std::optional<Ranked> tensor_parallel(const Case& c, bool trusts_links) {
  const Team team = best_team(c);
  if (team.pair == nullptr) return {};
  Ranked ranked;
  ModeAdvice& advice = ranked.advice;
  advice.mode = "tensor parallel";
  advice.gpus = {team.pair->a->name(), team.pair->b->name()};
  add_line(advice.arithmetic, vram_line({team.pair->a, team.pair->b}));
  std::optional<double> rate;
  if (team.raw && *team.raw > 0 && trusts_links) {
    rate = *team.raw * share_of(c, *team.pair);
    advice.arithmetic.push_back(rate_line(c, *team.pair, *team.raw));
    advice.arithmetic.push_back(prompt_line(*rate));
    if (lets_peers(*team.pair)) advice.arithmetic.push_back(latency_line());
  } else {
    advice.arithmetic.emplace_back(
        "the links between them are not known; to pass: 64 layers x 2 sums x 5120 values x 2 bytes "
        "= 1.31 MB a token");
  }
  advice.why = why_tensor(*team.pair, rate);
  ranked.rank = rank_tensor(*team.pair, rate);
  return ranked;
}

Ranked layer_split(const Case& c) {
  Ranked ranked;
  ModeAdvice& advice = ranked.advice;
  advice.mode = "layer split";
  std::vector<const Card*> cards;
  for (const Card& card : c.cards) {
    cards.push_back(&card);
    advice.gpus.push_back(card.name());
  }
  add_line(advice.arithmetic, vram_line(cards));
  advice.arithmetic.push_back(fmt::format(
      "{} boundar{} x 5120 values x 2 bytes = {:.0f} KB a token: any link carries that, with or "
      "without peers",
      cards.size() - 1, cards.size() == 2 ? "y" : "ies",
      static_cast<double>(cards.size() - 1) * kTokenBytes / 1000));
  advice.why =
      "Needs no peer access and takes unlike cards; a token passes one card after another.";
  ranked.rank = 2;
  return ranked;
}

std::optional<Ranked> one_card(const Case& c) {
  const Card* largest = nullptr;
  for (const Card& card : c.cards) {
    if (!card.need_bytes) continue;
    if (largest == nullptr || *card.need_bytes > *largest->need_bytes) largest = &card;
  }
  if (largest == nullptr) return {};
  Ranked ranked;
  ranked.advice.mode = "one card";
  ranked.advice.gpus = {largest->name()};
  const double gib = static_cast<double>(*largest->need_bytes) / kGiB;
  ranked.advice.arithmetic = {
      fmt::format("{:.1f} GiB x 0.9 for weights and cache = {:.1f} GiB", gib, gib * 0.9)};
  ranked.advice.why = "What fits into one card needs no link; serve another model on the others.";
  ranked.rank = c.cards.size() == 1 ? 0 : 3;
  return ranked;
}

}  // namespace

std::vector<ModeAdvice> advise(const Case& c) {
  std::list<Ranked> all;  // whose sort keeps the order of equals
  if (c.cards.size() >= 2) {
    if (auto parallel = tensor_parallel(c, !contradicts(c))) all.push_back(*std::move(parallel));
    all.push_back(layer_split(c));
  }
  if (auto single = one_card(c)) all.push_back(*std::move(single));
  all.sort([](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  std::vector<ModeAdvice> advice;
  for (Ranked& ranked : all) advice.push_back(std::move(ranked.advice));
  return advice;
}

}  // namespace evener::doctor
