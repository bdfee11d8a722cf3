#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace evener::bench {

// Names with their labels as they stand there, to values:
// "vllm:spec_decode_num_drafts_total{model=\"m\"}" -> 12.
using Samples = std::map<std::string, double>;

// Prometheus text, of a server that may be hostile: comments, lines that are no sample, values that
// are no finite number and names over 1024 bytes are left out; so is all after 20,000 samples.
Samples parse_prometheus(std::string_view text);

// The sum of `name` over all its labels; absent if it does not occur.
std::optional<double> sum_of(const Samples& samples, std::string_view name);

// The value of a label of the first sample of `name`.
std::optional<std::string> label_of(const Samples& samples, std::string_view name,
                                    std::string_view label);

}  // namespace evener::bench
