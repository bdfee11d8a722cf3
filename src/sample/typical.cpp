#include <cmath>

#include "sample/stage.h"

namespace evener::sample {
namespace {

bool is_on(const Params& params) { return params.typical_p < 1; }

double entropy(const Candidates& candidates, double log_total) {
  double sum = 0;
  for (const Candidate& candidate : candidates.entries()) {
    const double weight = candidate.weight();
    if (weight > 0) sum += weight * (log_total - double{candidate.logit});
  }
  return sum / std::exp(log_total);
}

// The tokens whose surprise, -log p, lies nearest the expected one, until they have probability
// typical_p (Meister et al. 2022).
void apply(const Params& params, Candidates& candidates) {
  const double log_total = std::log(candidates.total_weight());
  const double typical_logit = log_total - entropy(candidates, log_total);
  candidates.keep_mass_around(typical_logit, double{params.typical_p});
}

}  // namespace

extern const Stage typical;
const Stage typical = {.name = "typical", .is_on = is_on, .apply = apply};

}  // namespace evener::sample
