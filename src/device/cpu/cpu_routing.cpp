#include "device/cpu/cpu_routing.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::device::cpu {

Result<ExpertRoom> ExpertRoom::create(const RoutingShape& shape, std::string_view what) {
  const size_t places = shape.num_choices();
  const size_t panels =
      (places + (kPanelRows - 1) * std::min(places, shape.num_experts)) / kPanelRows;
  const size_t hidden = shape.hidden_size;
  const size_t intermediate = shape.intermediate_size;
  const size_t panel_of_halves = std::max(bytes_of_panel(Activations::q8_0, intermediate),
                                          bytes_of_panel(Activations::q8_k, intermediate));
  ExpertRoom room;
  ASSIGN_OR_RETURN(room.rows, Memory::allocate(places * hidden * sizeof(float), what));
  ASSIGN_OR_RETURN(room.halves, Memory::allocate(places * 2 * intermediate * sizeof(float), what));
  ASSIGN_OR_RETURN(room.rows_q8_0,
                   Memory::allocate(panels * bytes_of_panel(Activations::q8_0, hidden), what));
  ASSIGN_OR_RETURN(room.rows_q8_k,
                   Memory::allocate(panels * bytes_of_panel(Activations::q8_k, hidden), what));
  ASSIGN_OR_RETURN(room.halves_rounded, Memory::allocate(panels * panel_of_halves, what));
  return room;
}

CpuRouting::CpuRouting(const RoutingShape& routing_shape, ExpertRoom room)
    : Routing(routing_shape),
      uses_(routing_shape.num_layers * routing_shape.num_experts),
      groups_(routing_shape.num_experts, routing_shape.num_choices()),
      room_(std::move(room)) {
  experts_.reserve(routing_shape.num_choices());
  weights_.reserve(routing_shape.num_choices());
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

std::span<const uint64_t> CpuRouting::uses(size_t layer) const {
  EVENER_ASSERT(layer < shape().num_layers);
  return std::span(uses_).subspan(layer * shape().num_experts, shape().num_experts);
}

}  // namespace evener::device::cpu
