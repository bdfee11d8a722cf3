#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tokenizer/token_id.h"

namespace evener::sample {

using tokenizer::TokenId;

// A token that may come next.
struct Candidate {
  TokenId id = 0;
  float logit = 0;  // less the best one's: <= 0; -infinity has no chance

  double weight() const { return static_cast<double>(std::exp(logit)); }
};

// Likelier first; among equals the lower id. A total order, so every choice built on it is one.
inline bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// The tokens that may come next, at least one. Stages cut it down. The vocabulary is never sorted
// as a whole: cuts sort only what lies around their border. Reused between tokens for its memory.
// One thread.
class Candidates {
 public:
  // All tokens with finite logits, in order of their ids. `max` is the largest of those.
  void assign(std::span<const float> logits, float max);

  std::span<Candidate> entries() { return entries_; }
  std::span<const Candidate> entries() const { return entries_; }

  // What turns weights into probabilities.
  double total_weight() const;

  // Keeps the `count` likeliest in falling order; count >= 1.
  void keep_likeliest(size_t count);

  // Keeps the fewest entries whose weights make up `share` of the whole, those with logits nearest
  // `centre` first, the likelier first among equally near ones; at least one. Order is kept.
  void keep_mass_around(double centre, double share);

  // Keeps what is at least `ratio` times as likely as the likeliest.
  void keep_near_best(double ratio);

 private:
  struct Bucket {
    double mass = 0;
    size_t count = 0;
  };
  struct Border {
    size_t bucket = 0;
    double mass_missing = 0;  // that the nearer buckets do not have
  };
  void fill_buckets(double centre);
  Border find_border(double share) const;
  Candidate last_kept(double centre, Border border);

  std::vector<Candidate> entries_;
  std::vector<Bucket> buckets_;
  std::vector<Candidate> border_;
};

}  // namespace evener::sample
