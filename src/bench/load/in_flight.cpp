#include "bench/load/in_flight.h"

#include <algorithm>

namespace evener::bench {

void InFlight::add(const RequestRecord& record) {
  if (record.sent == Nanoseconds(0)) return;
  began_ = spans_.empty() ? record.sent : std::min(began_, record.sent);
  ended_ = std::max(ended_, record.ended);
  spans_.push_back({.sent = record.sent, .ended = record.ended});
}

double InFlight::mean(Nanoseconds from, Nanoseconds to) const {
  if (to <= from) return 0;
  double sum = 0;
  for (const Span& span : spans_) {
    const Nanoseconds part = std::min(span.ended, to) - std::max(span.sent, from);
    sum += std::max(0.0, static_cast<double>(part.count()));
  }
  return sum / static_cast<double>((to - from).count());
}

}  // namespace evener::bench
