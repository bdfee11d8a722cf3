#pragma once

#include <span>
#include <string_view>

#include "bench/statistics.h"

namespace evener::bench {

enum class Statistic : uint8_t { median, mean, p95, max };

struct ColumnSpec {
  std::string_view key;  // of a metric or of a value
  Statistic statistic = Statistic::median;
  bool (*keep)(std::string_view label) = nullptr;  // of these requests only
};

// How the results of one experiment are laid out. Target keys and values that are not here get
// columns of their own.
struct TableSpec {
  std::string_view experiment;
  std::span<const std::string_view> keys;  // of targets, in the order of the columns
  std::span<const ColumnSpec> columns;
};

// Null for an experiment that is not in the table of specs.
const TableSpec* find_table_spec(std::string_view experiment);

double pick(const Summary& summary, Statistic statistic);

// Parts of a starvation, by the labels of its requests: those beside each other. "victim alone" and
// "attacker alone" are none of them.
bool is_victim(std::string_view label);
bool is_attacker(std::string_view label);

}  // namespace evener::bench
