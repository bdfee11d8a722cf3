#include "bench/report/goodput_columns.h"

#include <charconv>
#include <cmath>

#include "bench/report/numbers.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

struct LimitName {
  std::string_view metric;
  std::optional<double> Limits::* limit;
};
constexpr LimitName kLimitNames[] = {
    {"ttft_ms", &Limits::ttft_ms},
    {"tpot_ms", &Limits::tpot_ms},
    {"gap_max_ms", &Limits::gap_max_ms},
    {"e2e_ms", &Limits::e2e_ms},
};

bool is_any_set(const Limits& limits) {
  return limits.ttft_ms || limits.tpot_ms || limits.gap_max_ms || limits.e2e_ms;
}

}  // namespace

Limits goodput_limits(const Caliber& caliber) {
  Limits limits;
  for (const LimitName& name : kLimitNames) {
    const auto found = caliber.find("option.load." + std::string(name.metric));
    if (found == caliber.end()) continue;
    const std::string& text = found->second;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && std::isfinite(value) && value > 0) limits.*name.limit = value;
  }
  return limits;
}

Text goodput_limits_remark(const Run& run) {
  const Limits limits = goodput_limits(run.header.caliber);
  if (!is_any_set(limits)) return word("load.no_limits");
  Text list;
  for (const LimitName& name : kLimitNames) {
    const std::optional<double>& limit = limits.*name.limit;
    if (!limit) continue;
    if (!list.empty()) list = list + Text{.english = ", ", .chinese = "，"};
    list = list + word_or_name("metric", name.metric) + same(" <= " + quantity(*limit, "ms"));
  }
  return fill(word("load.limits"), {list});
}

void add_goodput_columns(TableBuilder& builder) {
  builder.number_column(word("column.goodput"), "requests/s",
                        "requests that meet every limit / window");
  builder.number_column(word("column.good_share"), "share",
                        "requests that meet every limit / requests");
}

std::optional<PointGoodput> point_goodput(const Analysis& analysis, const Point& point) {
  const Limits limits = goodput_limits(analysis.run().header.caliber);
  if (!is_any_set(limits)) return std::nullopt;
  uint64_t num_good = 0;
  uint64_t num_requests = 0;
  std::vector<double> rates;
  for (const CellRecord* cell : point.complete) {
    std::vector<RequestRecord> requests;
    for (const RequestRecord* request : analysis.requests_of(*cell)) requests.push_back(*request);
    const Goodput here = goodput(requests, limits, cell->ended - cell->began);
    num_good += here.num_good;
    num_requests += here.num_requests;
    if (std::isfinite(here.requests_per_s)) rates.push_back(here.requests_per_s);
  }
  if (num_requests == 0) return std::nullopt;
  return PointGoodput{.requests_per_s = summarise(rates),
                      .share = double(num_good) / double(num_requests)};
}

void add_goodput(TableBuilder& builder, const Analysis& analysis, const Point& point) {
  const std::optional<PointGoodput> good = point_goodput(analysis, point);
  if (!good) {
    builder.nothing();
    builder.nothing();
    return;
  }
  builder.number(good->requests_per_s.p50, good->requests_per_s.ci95);
  builder.number(good->share);
}

}  // namespace evener::bench
