#include "device/cpu/cpu_routing.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::device::cpu {

Result<ExpertRoom> ExpertRoom::create(const RoutingShape& shape, std::string_view what,
                                      MemoryPlace place) {
  const size_t places = shape.num_choices();
  const size_t panels =
      (places + (kPanelRows - 1) * std::min(places, shape.num_experts)) / kPanelRows;
  const size_t hidden = shape.hidden_size;
  const size_t intermediate = shape.intermediate_size;
  const size_t panel_of_halves = std::max(bytes_of_panel(Activations::q8_0, intermediate),
                                          bytes_of_panel(Activations::q8_k, intermediate));
  ExpertRoom room;
  ASSIGN_OR_RETURN(room.rows, Memory::allocate(places * hidden * sizeof(float), what, place));
  ASSIGN_OR_RETURN(room.halves,
                   Memory::allocate(places * 2 * intermediate * sizeof(float), what, place));
  ASSIGN_OR_RETURN(
      room.rows_q8_0,
      Memory::allocate(panels * bytes_of_panel(Activations::q8_0, hidden), what, place));
  ASSIGN_OR_RETURN(
      room.rows_q8_k,
      Memory::allocate(panels * bytes_of_panel(Activations::q8_k, hidden), what, place));
  ASSIGN_OR_RETURN(room.halves_rounded, Memory::allocate(panels * panel_of_halves, what, place));
  return room;
}

CpuRouting::CpuRouting(const RoutingShape& routing_shape, ExpertRoom room)
    : Routing(routing_shape),
      uses_(routing_shape.num_layers * routing_shape.num_experts),
      groups_(routing_shape.num_experts, routing_shape.num_choices()),
      room_(std::move(room)) {
  experts_.reserve(routing_shape.num_choices());
  weights_.reserve(routing_shape.num_choices());
  kept_places_.reserve(routing_shape.num_choices());
  kept_weights_.reserve(routing_shape.num_choices());
  kept_ends_.reserve(routing_shape.num_rows);
}

void CpuRouting::begin(size_t num_rows) {
  EVENER_ASSERT(num_rows <= shape().num_rows);
  num_rows_ = num_rows;
  experts_.resize(num_rows * shape().num_chosen);
  weights_.resize(num_rows * shape().num_chosen);
}

void CpuRouting::finish(size_t layer) {
  EVENER_ASSERT(layer < shape().num_layers);
  uint64_t* const uses = uses_.data() + layer * shape().num_experts;
  for (const int32_t expert : experts_) ++uses[expert];
  groups_.sort(experts_);
}

CpuRouting::Terms CpuRouting::terms(size_t row) const {
  const size_t k = shape().num_chosen;
  return {groups_.places().subspan(row * k, k), std::span(weights_).subspan(row * k, k)};
}

CpuRouting::Terms CpuRouting::kept_terms(size_t row) const {
  const size_t begin = row == 0 ? 0 : kept_ends_[row - 1];
  const size_t count = kept_ends_[row] - begin;
  return {std::span(kept_places_).subspan(begin, count),
          std::span(kept_weights_).subspan(begin, count)};
}

void CpuRouting::keep(Range places) {
  kept_places_.clear();
  kept_weights_.clear();
  kept_ends_.clear();
  for (size_t row = 0; row < num_rows_; ++row) {
    const Terms all = terms(row);
    for (size_t k = 0; k < all.places.size(); ++k) {
      const auto place = size_t(all.places[k]);
      if (place < places.begin || place >= places.end) continue;
      kept_places_.push_back(all.places[k]);
      kept_weights_.push_back(all.weights[k]);
    }
    kept_ends_.push_back(kept_places_.size());
  }
}

std::span<const uint64_t> CpuRouting::uses(size_t layer) const {
  EVENER_ASSERT(layer < shape().num_layers);
  return std::span(uses_).subspan(layer * shape().num_experts, shape().num_experts);
}

}  // namespace evener::device::cpu
