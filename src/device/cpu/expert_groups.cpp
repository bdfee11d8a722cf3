#include "device/cpu/expert_groups.h"

#include <algorithm>

#include "base/assert.h"

namespace evener::device::cpu {

ExpertGroups::ExpertGroups(size_t num_experts, size_t num_choices_max) : next_(num_experts) {
  const size_t num_groups_max = std::min(num_experts, num_choices_max);
  groups_.reserve(num_groups_max);
  panels_.reserve((num_choices_max + (kPanelRows - 1) * num_groups_max) / kPanelRows);
  choices_.reserve(num_choices_max);
  places_.reserve(num_choices_max);
}

void ExpertGroups::sort(std::span<const int32_t> experts) {
  EVENER_ASSERT(experts.size() <= choices_.capacity());
  groups_.clear();
  panels_.clear();
  choices_.resize(experts.size());
  places_.resize(experts.size());
  std::ranges::fill(next_, 0);
  for (const int32_t expert : experts) ++next_[size_t(expert)];
  size_t place = 0;
  for (size_t expert = 0; expert < next_.size(); ++expert) {
    const size_t end = place + size_t(next_[expert]);
    if (end > place) add_group(expert, {place, end});
    next_[expert] = int32_t(place);
    place = end;
  }
  for (size_t choice = 0; choice < experts.size(); ++choice) {
    places_[choice] = next_[size_t(experts[choice])]++;
    choices_[size_t(places_[choice])] = int32_t(choice);
  }
}

std::span<const ExpertGroups::Group> ExpertGroups::groups_of(Range experts) const {
  const auto begin = std::ranges::lower_bound(groups_, experts.begin, {}, &Group::expert);
  const auto end = std::ranges::lower_bound(groups_, experts.end, {}, &Group::expert);
  return {begin, end};
}

void ExpertGroups::add_group(size_t expert, Range places) {
  groups_.push_back({.expert = expert, .places = places, .first_panel = panels_.size()});
  for (size_t begin = places.begin; begin < places.end; begin += kPanelRows) {
    panels_.push_back({begin, std::min(begin + kPanelRows, places.end)});
  }
}

}  // namespace evener::device::cpu
