#pragma once

#include <vector>

#include "bench/record.h"

namespace evener::bench {

// When each request of a load was under way. One thread.
class InFlight {
 public:
  // What was never sent counts for nothing.
  void add(const RequestRecord& record);

  uint64_t num_sent() const { return spans_.size(); }
  Nanoseconds began() const { return began_; }  // the first; 0 if there was none
  Nanoseconds ended() const { return ended_; }  // the last
  // How many there were on the mean of [from, to). 0 for an empty window.
  double mean(Nanoseconds from, Nanoseconds to) const;

 private:
  struct Span {
    Nanoseconds sent;
    Nanoseconds ended;
  };
  std::vector<Span> spans_;
  Nanoseconds began_{0};
  Nanoseconds ended_{0};
};

}  // namespace evener::bench
