#pragma once

#include "bench/metrics.h"
#include "bench/report/analysis.h"
#include "bench/report/table_builder.h"

namespace evener::bench {

// The limits that the user set for goodput, from the caliber: "option.load.ttft_ms" and so on.
Limits goodput_limits(const Caliber& caliber);

// "Limits of goodput: TTFT <= 500 ms, ..."; or that there were none.
Text goodput_limits_remark(const Run& run);

struct PointGoodput {
  Summary requests_per_s;  // one sample a round
  double share = 0;        // of requests that meet every limit
};
// None if no limit was set or nothing was asked.
std::optional<PointGoodput> point_goodput(const Analysis& analysis, const Point& point);

void add_goodput_columns(TableBuilder& builder);
void add_goodput(TableBuilder& builder, const Analysis& analysis, const Point& point);

}  // namespace evener::bench
