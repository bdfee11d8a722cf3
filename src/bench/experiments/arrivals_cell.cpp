#include "bench/experiments/arrivals_cell.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "bench/cell_runner.h"
#include "bench/experiments/slope.h"
#include "bench/load.h"

namespace evener::bench {
namespace {

constexpr size_t kMadeAheadMax = 4000;

// Plans made before the first is sent; those beyond are made when their time comes.
class MadeAhead {
 public:
  MadeAhead(const Bench& bench, const ArrivalsPlan& plan) : plan_(plan) {
    const size_t num_plans = std::min(plan.arrivals.size(), kMadeAheadMax);
    while (made_.size() < num_plans && status_ && !bench.stop) add(made_.size());
  }

  RequestPlan take(uint64_t index) {
    if (index >= made_.size() && status_) {
      auto late = plan_.plan(index);
      if (late) return *std::move(late);
      status_ = late.error();
    }
    return index < made_.size() ? std::move(made_[index]) : RequestPlan{};
  }
  const Status& status() const { return status_; }

 private:
  void add(uint64_t index) {
    auto plan = plan_.plan(index);
    if (plan) {
      made_.push_back(*std::move(plan));
    } else {
      status_ = plan.error();
    }
  }

  const ArrivalsPlan& plan_;
  std::vector<RequestPlan> made_;
  Status status_;
};

double ttft_ms(const RequestRecord& request) {
  const auto figures = request_figures(request);
  for (const std::string_view key : {"ttft_scheduled_ms", "ttft_ms"}) {
    if (const auto found = figures.find(key); found != figures.end()) return found->second;
  }
  return 0;
}

}  // namespace

bool is_overloaded(std::vector<RequestRecord> requests) {
  std::erase_if(requests, [](const RequestRecord& request) { return !is_sample(request); });
  std::ranges::sort(requests, {}, &RequestRecord::sent);
  std::priority_queue<Nanoseconds, std::vector<Nanoseconds>, std::greater<>> ends;
  std::vector<double> at;
  std::vector<double> in_flight;
  std::vector<double> first_token;
  for (const RequestRecord& request : requests) {
    while (!ends.empty() && ends.top() <= request.sent) ends.pop();
    ends.push(request.ended);
    at.push_back(in_s(request.sent));
    in_flight.push_back(static_cast<double>(ends.size()));
    first_token.push_back(ttft_ms(request));
  }
  return slope_of(at, in_flight).rises && slope_of(at, first_token).rises;
}

Result<ArrivalsResult> measure_arrivals(Bench& bench, ArrivalsPlan plan) {
  Expectations expected = speed_expectations(bench);
  expected.cold = expected.cold && plan.cold;
  expected.percentiles = true;
  expected.num_samples_min = 3;
  CellRunner cell(bench, {.experiment = "load",
                          .point = plan.point,
                          .round = plan.round,
                          .target = plan.target,
                          .expected = expected});
  MadeAhead plans(bench, plan);
  RETURN_IF_ERROR(plans.status());
  cell.flush();
  OpenLoop shape;
  shape.arrivals = plan.arrivals;
  const LoadResult load = run_open_loop(
      *bench.client, shape, [&](uint64_t index) { return cell.in_cell(plans.take(index)); },
      [&cell](RequestRecord record) { cell.keep(std::move(record)); }, bench.stop);
  RETURN_IF_ERROR(plans.status());
  cell.value("num_refused", "", static_cast<double>(load.num_refused));
  ArrivalsResult result;
  result.good = goodput(cell.requests(), bench.options.load.limits, load.ended - load.began);
  const uint64_t num_all = result.good.num_requests + load.num_refused;
  if (num_all > 0) {
    result.good_share = static_cast<double>(result.good.num_good) / static_cast<double>(num_all);
  }
  result.overloaded = is_overloaded(cell.requests());
  cell.value("goodput_requests_per_s", "1/s", result.good.requests_per_s);
  cell.value("good_share", "", result.good_share);
  cell.value("overloaded", "", result.overloaded ? 1 : 0);
  RETURN_IF_ERROR(cell.end());
  result.is_valid = cell.state() == CellState::complete;
  return result;
}

}  // namespace evener::bench
