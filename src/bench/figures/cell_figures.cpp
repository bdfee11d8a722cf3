#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "bench/metrics.h"

namespace evener::bench {
namespace {

using Requests = std::vector<const RequestRecord*>;

// Requests of the cell in order of their sending.
Requests requests_of(const CellRecord& cell, std::span<const RequestRecord> all) {
  Requests out;
  for (const RequestRecord& r : all) {
    if (r.cell == cell.key) out.push_back(&r);
  }
  std::stable_sort(out.begin(), out.end(), [](const RequestRecord* a, const RequestRecord* b) {
    return a->sent < b->sent;
  });
  return out;
}

// For each request whether another one was under way before its first token came: then its time to
// the first token is not that of its own prompt.
std::vector<bool> waited_beside_others(const Requests& requests) {
  std::vector<bool> out(requests.size());
  Nanoseconds others_end = Nanoseconds::min();
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestRecord& r = *requests[i];
    const Nanoseconds first = r.events.empty() ? r.ended : r.events.front().at;
    const bool is_followed = i + 1 < requests.size() && requests[i + 1]->sent < first;
    out[i] = others_end > r.sent || is_followed;
    others_end = std::max(others_end, r.ended);
  }
  return out;
}

void add_request_figures(const Requests& requests, std::optional<std::string_view> role,
                         CellSamples& samples) {
  const std::vector<bool> waited = waited_beside_others(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestRecord& r = *requests[i];
    if (!is_sample(r) || (role && role_of(r.label) != *role)) continue;
    for (const auto& [key, value] : request_figures(r)) {
      if (waited[i] && key == "prefill_tokens_per_s") continue;
      samples[std::string(key)].push_back(value);
    }
    const std::vector<double> event_gaps = event_gaps_ms(r);
    const std::vector<double> token_gaps = token_gaps_ms(r);
    auto& pooled_events = samples["event_gap_ms"];
    pooled_events.insert(pooled_events.end(), event_gaps.begin(), event_gaps.end());
    auto& pooled_tokens = samples["itl_ms"];
    pooled_tokens.insert(pooled_tokens.end(), token_gaps.begin(), token_gaps.end());
  }
}

// The whole window, and what was in flight at which time of it.
struct Flight {
  Nanoseconds begin = Nanoseconds::max();
  Nanoseconds end = Nanoseconds::min();
  std::vector<std::pair<Nanoseconds, int>> steps;  // time and +1 or -1, in order

  explicit Flight(const Requests& requests) {
    for (const RequestRecord* r : requests) {
      if (r->excluded || r->ended < r->sent) continue;
      begin = std::min(begin, r->sent);
      end = std::max(end, r->ended);
      steps.emplace_back(r->sent, 1);
      steps.emplace_back(r->ended, -1);
    }
    std::sort(steps.begin(), steps.end());  // ends first: a user's next request is not beside it
  }
  double seconds_in_all() const { return begin < end ? in_s(end - begin) : 0; }

  double mean_in_flight() const {
    double sum = 0;
    int in_flight = 0;
    for (size_t i = 0; i + 1 < steps.size(); ++i) {
      in_flight += steps[i].second;
      sum += in_flight * in_s(steps[i + 1].first - steps[i].first);
    }
    return sum / seconds_in_all();
  }

  // From when `level` are first in flight until that is so for the last time. The moments between
  // a user's requests belong to it.
  std::pair<Nanoseconds, Nanoseconds> plateau(int level) const {
    Nanoseconds first = Nanoseconds::max();
    Nanoseconds last = Nanoseconds::min();
    int in_flight = 0;
    for (const auto& [time, step] : steps) {
      if (step < 0 && in_flight >= level) last = time;
      in_flight += step;
      if (step > 0 && in_flight >= level) first = std::min(first, time);
    }
    return {first, last};
  }
};

// Tokens whose time lies after `begin` and not after `end`. Where tokens of events are not known,
// those the server counted are spread evenly over the events.
double tokens_between(const RequestRecord& r, Nanoseconds begin, Nanoseconds end) {
  const std::vector<uint32_t> tokens = tokens_of_events(r);
  const double each = double(num_tokens_out(r).value_or(0)) / double(r.events.size());
  double sum = 0;
  for (size_t i = 0; i < r.events.size(); ++i) {
    if (r.events[i].at <= begin || r.events[i].at > end) continue;
    sum += tokens.empty() ? each : tokens[i];
  }
  return sum;
}

std::optional<int> num_users(const CellRecord& cell) {
  const auto found = cell.target.find("num_users");
  if (found == cell.target.end()) return std::nullopt;
  int users = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [rest, error] = std::from_chars(found->second.data(), end, users);
  if (error != std::errc() || rest != end || users < 1) return std::nullopt;
  return users;
}

// Sums over the requests that count. A count that the server does not give for one of them makes
// the sum unknown.
struct Totals {
  double tokens_in = 0;
  double tokens_out = 0;
  double tokens_cached = 0;
  double drafted = 0;
  double accepted = 0;
  uint64_t num_requests = 0;

  explicit Totals(const Requests& requests) {
    const auto add = [](double& sum, std::optional<uint64_t> count) {
      sum += count ? double(*count) : std::numeric_limits<double>::quiet_NaN();
    };
    for (const RequestRecord* r : requests) {
      if (!is_sample(*r)) continue;
      ++num_requests;
      add(tokens_in, r->num_tokens_in);
      add(tokens_out, num_tokens_out(*r));
      add(tokens_cached, r->num_tokens_cached);
      add(drafted, r->server.num_drafted);
      add(accepted, r->server.num_accepted);
    }
  }
};

void add_plateau(const CellRecord& cell, const Requests& requests, const Flight& flight,
                 CellSamples& samples) {
  const std::optional<int> users = num_users(cell);
  if (!users) return;
  const auto [begin, end] = flight.plateau(*users);
  if (begin >= end) return;
  double tokens = 0;
  for (const RequestRecord* r : requests) {
    if (!is_sample(*r)) continue;
    if (r->events.empty() || !num_tokens_out(*r)) return;
    tokens += tokens_between(*r, begin, end);
  }
  samples["output_plateau_tokens_per_s"] = {tokens / in_s(end - begin)};
}

double energy_j(const CellRecord& cell, std::span<const Value> values) {
  double sum = 0;
  for (const Value& value : values) {
    if (value.cell == cell.key && value.key == "energy_j") sum += value.value;
  }
  return sum;
}

void add_cell_figures(const CellRecord& cell, const Requests& requests,
                      std::span<const Value> values, CellSamples& samples) {
  const Totals totals(requests);
  if (totals.num_requests == 0) return;
  const Flight flight(requests);
  if (const double window = flight.seconds_in_all(); window > 0) {
    samples["output_tokens_per_s"] = {totals.tokens_out / window};
    samples["total_tokens_per_s"] = {(totals.tokens_in + totals.tokens_out) / window};
    samples["requests_per_s"] = {double(totals.num_requests) / window};
    samples["concurrency_achieved"] = {flight.mean_in_flight()};
  }
  add_plateau(cell, requests, flight, samples);
  samples["cache_hit_share"] = {totals.tokens_cached / totals.tokens_in};
  samples["accept_rate"] = {totals.accepted / totals.drafted};
  if (totals.drafted > 0) {
    samples["accept_length"] = {totals.tokens_out / (totals.tokens_out - totals.accepted)};
  }
  if (const double energy = energy_j(cell, values); energy > 0) {
    samples["energy_j_per_token"] = {energy / totals.tokens_out};
  }
}

void drop_unknown(CellSamples& samples) {
  for (auto& [key, of_a_key] : samples) {
    std::erase_if(of_a_key, [](double x) { return !std::isfinite(x); });
  }
  std::erase_if(samples, [](const auto& entry) { return entry.second.empty(); });
}

void add_values(const CellRecord& cell, std::span<const Value> values, CellSamples& samples) {
  CellSamples recorded;
  for (const Value& value : values) {
    if (value.cell == cell.key) recorded[value.key].push_back(value.value);
  }
  samples.merge(recorded);  // keeps those of the requests
}

}  // namespace

std::string_view role_of(std::string_view label) {
  label = label.substr(0, label.find_first_of("0123456789"));
  const size_t last = label.find_last_not_of(" ,.:#/-_");
  return label.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

CellSamples cell_samples(const CellRecord& cell, std::span<const RequestRecord> requests,
                         std::span<const Value> values, std::optional<std::string_view> role) {
  const Requests own = requests_of(cell, requests);
  CellSamples samples;
  add_request_figures(own, role, samples);
  add_cell_figures(cell, own, values, samples);
  drop_unknown(samples);
  add_values(cell, values, samples);
  drop_unknown(samples);
  return samples;
}

CellFigures cell_figures(const CellRecord& cell, std::span<const RequestRecord> requests,
                         std::span<const Value> values) {
  CellFigures out;
  for (const auto& [key, of_a_key] : cell_samples(cell, requests, values)) {
    out.emplace(key, summarise(of_a_key));
  }
  return out;
}

const Summary* find_figure(const CellFigures& figures, std::string_view key) {
  const auto found = figures.find(key);
  return found == figures.end() || found->second.n == 0 ? nullptr : &found->second;
}

}  // namespace evener::bench
