#include "sample/params_check.h"

#include <fmt/format.h>

#include <cfloat>
#include <cmath>
#include <string_view>

namespace evener::sample {
namespace {

Error refuse(std::string_view field, std::string why) {
  return Error{.code = Code::invalid_argument,
               .doing = "sample",
               .where = std::string(field),
               .why = std::move(why),
               .remedy = {}};
}

struct Range {
  std::string_view field;
  double value = 0;
  double min = 0;
  double max = 0;
};

// NaN lies in no range.
Status check_range(const Range& range) {
  if (range.value >= range.min && range.value <= range.max) return {};
  if (range.max == double{FLT_MAX} || range.max == double{INT32_MAX}) {
    return refuse(range.field,
                  fmt::format("must be at least {}, not {:.6g}", range.min, range.value));
  }
  return refuse(range.field, fmt::format("must be between {} and {}, not {:.6g}", range.min,
                                         range.max, range.value));
}

Status check_ranges(const Params& p) {
  const Range ranges[] = {
      {"temperature", p.temperature, 0, 100},
      {"top_k", double(p.top_k), 0, INT32_MAX},
      {"top_p", p.top_p, 0, 1},
      {"min_p", p.min_p, 0, 1},
      {"typical_p", p.typical_p, 0, 1},
      {"repetition_penalty", p.repetition_penalty, 0.01, 100},
      {"presence_penalty", p.presence_penalty, -100, 100},
      {"frequency_penalty", p.frequency_penalty, -100, 100},
      {"penalty_last_n", double(p.penalty_last_n), -1, INT32_MAX},
      {"dry_multiplier", p.dry_multiplier, 0, 100},
      {"dry_base", p.dry_base, 1, 100},
      {"dry_allowed_length", double(p.dry_allowed_length), 1, INT32_MAX},
      {"dry_penalty_last_n", double(p.dry_penalty_last_n), -1, INT32_MAX},
  };
  for (const Range& range : ranges) RETURN_IF_ERROR(check_range(range));
  return {};
}

Status check_breakers(const Params& p) {
  constexpr std::string_view kField = "dry_sequence_breakers";
  if (p.dry_sequence_breakers.size() > kDryBreakersMax) {
    return refuse(kField, fmt::format("has {} entries, at most {} are allowed",
                                      p.dry_sequence_breakers.size(), kDryBreakersMax));
  }
  for (const std::string& breaker : p.dry_sequence_breakers) {
    if (breaker.empty()) return refuse(kField, "has an empty entry");
    if (breaker.size() > kDryBreakerBytesMax) {
      return refuse(kField, fmt::format("has an entry of {} bytes, at most {} are allowed",
                                        breaker.size(), kDryBreakerBytesMax));
    }
  }
  return {};
}

Status check_bias(const Params& p, size_t vocab_size) {
  constexpr std::string_view kField = "logit_bias";
  if (p.logit_bias.size() > kLogitBiasesMax) {
    return refuse(kField, fmt::format("has {} entries, at most {} are allowed", p.logit_bias.size(),
                                      kLogitBiasesMax));
  }
  for (const auto& [id, bias] : p.logit_bias) {
    if (id < 0 || static_cast<size_t>(id) >= vocab_size) {
      return refuse(kField, fmt::format("token {} is not in the vocabulary of {}", id, vocab_size));
    }
    if (!std::isfinite(bias)) return refuse(kField, fmt::format("of token {} is not finite", id));
  }
  return {};
}

}  // namespace

Status check(const Params& params, size_t vocab_size) {
  RETURN_IF_ERROR(check_ranges(params));
  RETURN_IF_ERROR(check_breakers(params));
  return check_bias(params, vocab_size);
}

}  // namespace evener::sample
