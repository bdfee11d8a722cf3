#include "bench/experiments/spec_counters.h"

#include <charconv>
#include <string_view>

namespace evener::bench {
namespace {

std::string_view name_of(std::string_view metric) { return metric.substr(0, metric.find('{')); }

std::optional<int> position_of(std::string_view metric) {
  constexpr std::string_view kLabel = "position=\"";
  constexpr int kPositionMax = 63;
  const size_t label = metric.find(kLabel);
  if (label == std::string_view::npos) return std::nullopt;
  int position = -1;
  const char* begin = metric.data() + label + kLabel.size();
  const auto [end, error] = std::from_chars(begin, metric.data() + metric.size(), position);
  if (error != std::errc() || position < 0 || position > kPositionMax) return std::nullopt;
  return position;
}

}  // namespace

std::optional<SpecCounters> spec_counters(const std::map<std::string, double>& metrics) {
  SpecCounters counters;
  bool has_drafted = false;
  bool has_accepted = false;
  for (const auto& [metric, value] : metrics) {
    const std::string_view name = name_of(metric);
    if (name == "vllm:spec_decode_num_draft_tokens_total") {
      counters.num_drafted += value;
      has_drafted = true;
    } else if (name == "vllm:spec_decode_num_accepted_tokens_total") {
      counters.num_accepted += value;
      has_accepted = true;
    } else if (name == "vllm:spec_decode_num_drafts_total") {
      counters.num_drafts += value;
    } else if (name == "vllm:spec_decode_num_accepted_tokens_per_pos_total") {
      if (const auto position = position_of(metric)) counters.num_accepted_at[*position] += value;
    }
  }
  if (!has_drafted || !has_accepted) return std::nullopt;
  return counters;
}

SpecGauges spec_gauges(const std::map<std::string, double>& metrics) {
  SpecGauges gauges;
  for (const auto& [metric, value] : metrics) {
    const std::string_view name = name_of(metric);
    if (name == "sglang:spec_accept_length") gauges.accept_length = value;
    if (name == "sglang:spec_accept_rate") gauges.accept_rate = value;
  }
  return gauges;
}

}  // namespace evener::bench
