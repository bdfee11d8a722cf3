#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/cpu/linear_work.h"

namespace evener::device::cpu {

// The choices of a pass sorted by expert, so that each used expert's weights meet all of its rows
// at once. A choice is row * K + slot; its place is where it stands in the order of experts.
class ExpertGroups {
 public:
  // All rows of one expert.
  struct Group {
    size_t expert;
    Range places;
    size_t first_panel;
  };

  // Nothing is allocated later.
  ExpertGroups(size_t num_experts, size_t num_choices_max);

  // `experts` holds each choice's; within an expert the order stays.
  void sort(std::span<const int32_t> experts);

  std::span<const Group> groups() const { return groups_; }      // of the experts in use, rising
  std::span<const Group> groups_of(Range experts) const;         // of those
  std::span<const Range> panels() const { return panels_; }      // places, up to kPanelRows each
  std::span<const int32_t> choices() const { return choices_; }  // by place
  std::span<const int32_t> places() const { return places_; }    // by choice

 private:
  void add_group(size_t expert, Range places);

  std::vector<int32_t> next_;  // [experts]: their number of choices, then their next free place
  std::vector<Group> groups_;
  std::vector<Range> panels_;
  std::vector<int32_t> choices_;
  std::vector<int32_t> places_;
};

}  // namespace evener::device::cpu
