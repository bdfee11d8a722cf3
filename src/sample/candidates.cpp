#include "sample/candidates.h"

#include <algorithm>

#include "base/assert.h"

namespace evener::sample {
namespace {

// Up to so many, a heap of the best so far beats partitioning the whole.
constexpr size_t kFew = 512;

// Distances from a centre in steps of 1/32; the last bucket holds all beyond.
constexpr size_t kNumBuckets = 1024;
constexpr double kBucketsPerUnit = 32;

double distance(const Candidate& candidate, double centre) {
  return std::abs(double{candidate.logit} - centre);
}

size_t bucket_of(const Candidate& candidate, double centre) {
  const double bucket = distance(candidate, centre) * kBucketsPerUnit;
  return bucket < double{kNumBuckets - 1} ? static_cast<size_t>(bucket) : kNumBuckets - 1;
}

// A total order: among equally near ones the likelier comes first.
struct Nearer {
  double centre;
  bool operator()(const Candidate& a, const Candidate& b) const {
    const double distance_a = distance(a, centre);
    const double distance_b = distance(b, centre);
    return distance_a != distance_b ? distance_a < distance_b : likelier(a, b);
  }
};

}  // namespace

void Candidates::assign(std::span<const float> logits, float max) {
  entries_.resize(logits.size());
  size_t count = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    entries_[count] = {.id = static_cast<TokenId>(id), .logit = logits[id] - max};
    count += std::isfinite(logits[id]) ? 1 : 0;
  }
  EVENER_ASSERT(count > 0);
  entries_.resize(count);
}

double Candidates::total_weight() const {
  double total = 0;
  for (const Candidate& candidate : entries_) total += candidate.weight();
  return total;
}

void Candidates::keep_likeliest(size_t count) {
  EVENER_ASSERT(count > 0);
  const size_t num_kept = std::min(count, entries_.size());
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(num_kept);
  if (num_kept <= kFew) {
    std::partial_sort(entries_.begin(), end, entries_.end(), likelier);
  } else {
    if (end != entries_.end()) std::nth_element(entries_.begin(), end, entries_.end(), likelier);
    std::sort(entries_.begin(), end, likelier);
  }
  entries_.resize(num_kept);
}

void Candidates::fill_buckets(double centre) {
  buckets_.assign(kNumBuckets, {});
  for (const Candidate& candidate : entries_) {
    Bucket& bucket = buckets_[bucket_of(candidate, centre)];
    bucket.mass += candidate.weight();
    ++bucket.count;
  }
}

// The first bucket with which the share is reached; if rounding keeps it from being reached, the
// last that is not empty.
Candidates::Border Candidates::find_border(double share) const {
  double total = 0;
  for (const Bucket& bucket : buckets_) total += bucket.mass;
  const double wanted = share * total;
  Border border;
  double mass = 0;
  for (size_t i = 0; i < kNumBuckets; ++i) {
    if (buckets_[i].count == 0) continue;
    border = {.bucket = i, .mass_missing = wanted - mass};
    mass += buckets_[i].mass;
    if (mass >= wanted) break;
  }
  return border;
}

Candidate Candidates::last_kept(double centre, Border border) {
  border_.clear();
  for (const Candidate& candidate : entries_) {
    if (bucket_of(candidate, centre) == border.bucket) border_.push_back(candidate);
  }
  std::ranges::sort(border_, Nearer{centre});
  double mass = 0;
  for (const Candidate& candidate : border_) {
    mass += candidate.weight();
    if (mass >= border.mass_missing) return candidate;
  }
  return border_.back();
}

// Only the entries of the bucket in which the wanted mass is reached have to be sorted.
void Candidates::keep_mass_around(double centre, double share) {
  fill_buckets(centre);
  const Candidate last = last_kept(centre, find_border(share));
  const Nearer nearer{centre};
  std::erase_if(entries_, [&](const Candidate& candidate) { return nearer(last, candidate); });
}

void Candidates::keep_near_best(double ratio) {
  const Candidate best = *std::min_element(entries_.begin(), entries_.end(), likelier);
  const double logit_min = double{best.logit} + std::log(ratio);
  std::erase_if(entries_,
                [=](const Candidate& c) { return c.id != best.id && double{c.logit} < logit_min; });
}

}  // namespace evener::sample
