#include "sample/draw.h"

namespace evener::sample {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

constexpr uint64_t kGamma = 0x9E3779B97F4A7C15U;

}  // namespace

double uniform(uint64_t seed, uint64_t index) {
  // The seed is mixed before the counter is added, so that seeds 1 and 2 do not share a stream
  // shifted by one.
  const uint64_t bits = mix(mix(seed + kGamma) + (index + 1) * kGamma);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

TokenId draw(const Candidates& candidates, double fraction) {
  const double target = fraction * candidates.total_weight();
  double sum = 0;
  TokenId last = candidates.entries().front().id;
  for (const Candidate& candidate : candidates.entries()) {
    const double weight = candidate.weight();
    if (weight <= 0) continue;
    sum += weight;
    last = candidate.id;
    if (target < sum) break;
  }
  return last;
}

}  // namespace evener::sample
