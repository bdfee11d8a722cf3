#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace evener::bench {

// One character a value, its height from the smallest to the largest: "▁▃▇". In ASCII: ".-#".
std::string spark_line(std::span<const double> values, bool ascii);

// At most `num_buckets` values, each the largest of its stretch: peaks stay.
std::vector<double> peaks(std::span<const double> values, size_t num_buckets);

// A bar of `share` (0..1) of `width` characters; anything above zero is seen.
std::string bar(double share, size_t width, bool ascii);

}  // namespace evener::bench
