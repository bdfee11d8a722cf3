#include "cache/snapshot_plan.h"

#include <algorithm>

#include "base/assert.h"

namespace evener::cache {
namespace {

// Positions that somebody is likely to come back to, in no order.
std::vector<size_t> wanted_positions(const PromptOutline& prompt, const SnapshotRules& rules) {
  std::vector<size_t> positions = {prompt.num_tokens - 1, prompt.branch};
  const auto ends = prompt.message_ends;
  if (!ends.empty()) positions.push_back(ends.front());
  const auto last = ends.last(std::min(ends.size(), rules.num_message_ends));
  positions.insert(positions.end(), last.begin(), last.end());
  return positions;
}

bool is_near(const std::vector<SnapshotPoint>& points, size_t position, size_t distance) {
  return std::any_of(points.begin(), points.end(), [&](const SnapshotPoint& point) {
    return std::max(point.position, position) - std::min(point.position, position) < distance;
  });
}

}  // namespace

std::vector<SnapshotPoint> snapshot_points(const PromptOutline& prompt,
                                           const SnapshotRules& rules) {
  EVENER_ASSERT(prompt.num_tokens > 0);
  const auto on_grid = [&](size_t position) { return position - position % rules.page_size; };

  std::vector<SnapshotPoint> points;
  for (const size_t position : wanted_positions(prompt, rules)) {
    const size_t point = on_grid(position);
    if (point > prompt.first_position) points.push_back({.position = point});
  }
  const size_t last = prompt.num_tokens - 1;
  for (size_t distance = rules.interval; distance > 0 && distance < last;
       distance = 2 * distance + rules.interval) {
    const size_t point = on_grid(last - distance);
    if (point <= prompt.first_position) break;
    if (is_near(points, point, std::max(rules.interval / 2, size_t{1}))) continue;
    points.push_back({.position = point, .optional = true});
  }

  std::ranges::sort(points, {}, &SnapshotPoint::position);
  const auto repeated = std::ranges::unique(points, {}, &SnapshotPoint::position);
  points.erase(repeated.begin(), repeated.end());
  return points;
}

}  // namespace evener::cache
