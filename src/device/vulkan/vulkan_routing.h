#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "device/experts.h"
#include "device/vulkan/vulkan_memory.h"

namespace evener::device::vulkan {

// Room of route() and expert_ffn() for the choices of a pass, in one region.
class VulkanRouting final : public Routing {
 public:
  // Neighbours in the list of choices that go through the same expert; that of kernels/linear.glsl.
  struct RowTile {
    uint32_t expert, first, count;
  };

  VulkanRouting(const RoutingShape& routing_shape, Region region)
      : Routing(routing_shape), offsets_(routing_shape), region_(std::move(region)) {}

  static size_t size_bytes(const RoutingShape& shape) { return Offsets(shape).end; }

  size_t num_rows = 0;  // of the last route()

  Place experts() const { return place_in(region_, offsets_.experts); }  // int32 [rows, K]
  Place weights() const { return place_in(region_, offsets_.weights); }  // float [rows, K]
  Place places() const { return place_in(region_, offsets_.places); }    // int32 [choices]
  Place tiles() const { return place_in(region_, offsets_.tiles); }      // RowTile
  Place uses(size_t layer) const {  // [X] of a low and a high word
    EVENER_ASSERT(layer < shape().num_layers);
    return place_in(region_, offsets_.uses + layer * uses_bytes());
  }
  size_t uses_bytes() const { return 8 * shape().num_experts; }
  Place gate() const { return place_in(region_, offsets_.gate); }        // float [choices, inner]
  Place up() const { return place_in(region_, offsets_.up); }            // float [choices, inner]
  Place results() const { return place_in(region_, offsets_.results); }  // float [choices, hidden]
  const Region& region() const { return region_; }

 private:
  struct Offsets {
    explicit Offsets(const RoutingShape& shape) {
      const auto take = [this](size_t bytes) {
        return std::exchange(end, end + (bytes + 255) / 256 * 256);
      };
      const size_t choices = shape.num_choices();
      experts = take(4 * choices);
      weights = take(4 * choices);
      places = take(4 * choices);
      tiles = take(sizeof(RowTile) * (choices + shape.num_experts));
      uses = take(8 * shape.num_layers * shape.num_experts);
      gate = take(4 * choices * shape.intermediate_size);
      up = take(4 * choices * shape.intermediate_size);
      results = take(4 * choices * shape.hidden_size);
    }
    size_t experts, weights, places, tiles, uses, gate, up, results;
    size_t end = 0;
  };

  Offsets offsets_;
  Region region_;
};

}  // namespace evener::device::vulkan
