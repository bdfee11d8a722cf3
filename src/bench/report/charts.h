#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "bench/report/analysis.h"
#include "bench/report/text.h"

namespace evener::bench {

// What web/report/report.js draws.

enum class AxisScale : uint8_t { linear, logarithmic };

struct ChartAxis {
  Text label;
  std::string unit;
  AxisScale scale = AxisScale::linear;
};

struct ChartSeries {
  Text name;
  std::vector<double> x;  // rising
  std::vector<double> y;
  std::vector<double> low;  // of an interval around y; empty: none
  std::vector<double> high;
  enum class Style : uint8_t { line, steps } style = Style::line;
};

// A stretch of x with something about it.
struct ChartShade {
  double from;
  double to;
  Text name;
};

struct Chart {
  std::string id;  // unique in a page
  std::string section;
  Text title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series = {};
  std::vector<ChartShade> shades = {};
  Text shade_name = {};
  std::vector<double> marks = {};  // lines at these x
  Text mark_name = {};
};

// All that the run has figures for; none without a series.
std::vector<Chart> charts(const Analysis& analysis);

// Its parts.
void add_length_charts(const Analysis& analysis, std::vector<Chart>& charts);
void add_load_charts(const Analysis& analysis, std::vector<Chart>& charts);
void add_distribution_charts(const Analysis& analysis, std::vector<Chart>& charts);
void add_timeline_charts(const Analysis& analysis, std::vector<Chart>& charts);
void add_time_charts(const Analysis& analysis, std::vector<Chart>& charts);

// A figure of every point of an experiment against a number of its target; points that differ in
// another target are another series. With the interval of the median.
std::vector<ChartSeries> series_of(const Analysis& analysis, std::string_view experiment,
                                   const std::string& x_key, std::string_view figure,
                                   const Text& name);

json::Value charts_json(const std::vector<Chart>& charts);

}  // namespace evener::bench
