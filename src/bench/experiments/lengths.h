#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/experiment.h"

namespace evener::bench {

// That each is a prompt the server can take with an answer of `num_tokens_out` behind it, before
// anything is measured. Errors: invalid_argument, which names the longest that fits.
Status check_lengths(const Bench& bench, const std::string& experiment,
                     std::span<const uint64_t> lengths, uint64_t num_tokens_out);

}  // namespace evener::bench
