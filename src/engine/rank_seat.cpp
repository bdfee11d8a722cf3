#include "engine/rank_seat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace evener::engine {

std::string rank_name(size_t rank, const std::string& device_name) {
  return fmt::format("rank {} ({})", rank, device_name);
}

std::vector<std::string> rank_names(const std::vector<RankSeat>& seats) {
  std::vector<std::string> names;
  for (const RankSeat& seat : seats) names.push_back(rank_name(names.size(), seat.device_name));
  return names;
}

std::string layout_text(const RankSeats& seats) {
  const parallel::Layout& layout = seats.layout;
  std::string text;
  for (const RankSeat& seat : seats.seats) {
    text += (text.empty() ? "" : " + ") + seat.device_name;
  }
  if (!layout.borders.empty()) {
    text +=
        fmt::format(", {} stages ({})", layout.borders.size() + 1, fmt::join(layout.borders, ","));
  }
  if (layout.ratio.size() > 1) text += fmt::format(", tp {}", layout.ratio.size());
  if (std::ranges::adjacent_find(layout.ratio, std::ranges::not_equal_to()) != layout.ratio.end()) {
    text += fmt::format(" ({:g})", fmt::join(layout.ratio, ":"));
  }
  return text;
}

std::vector<RankTimes> times_of(const RankSeats& seats) {
  std::vector<RankTimes> times;
  for (const RankSeat& seat : seats.seats) {
    if (seat.times) {
      times.push_back({.name = rank_name(times.size(), seat.device_name), .times = seat.times});
    }
  }
  return times;
}

RanksReport report_of(const RankSeats& seats) {
  const parallel::Grid grid = seats.layout.grid();
  RanksReport report;
  report.layout = layout_text(seats);
  for (size_t rank = 0; rank < seats.seats.size(); ++rank) {
    report.ranks.push_back({.device = seats.seats[rank].device_name,
                            .stage = grid.stage_of(rank),
                            .shard = grid.shard_of(rank),
                            .silent_for = {}});
  }
  return report;
}

}  // namespace evener::engine
