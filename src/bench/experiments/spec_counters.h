#pragma once

#include <map>
#include <optional>
#include <string>

namespace evener::bench {

// Counters of speculative decoding, as the server's /metrics names them (vLLM).
struct SpecCounters {
  double num_drafted = 0;
  double num_accepted = 0;
  double num_drafts = 0;                  // steps that verified one
  std::map<int, double> num_accepted_at;  // by place in the draft, from 0
};

// Nothing if the server has none of them. Counters of one name and other labels are added.
std::optional<SpecCounters> spec_counters(const std::map<std::string, double>& metrics);

// What a server says of itself lately, without saying since when (SGLang).
struct SpecGauges {
  std::optional<double> accept_length;
  std::optional<double> accept_rate;
};
SpecGauges spec_gauges(const std::map<std::string, double>& metrics);

}  // namespace evener::bench
