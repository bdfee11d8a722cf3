#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "host/facts.h"

namespace evener::doctor {

// A line of the drawn tree: what is above the cards, and what shares a port with them.
struct TreeRow {
  enum class Kind {
    root_bus,
    unknown_place,  // a port that is named and not described, or nothing at all
    port,
    gpu,
    neighbour,  // not a card, but below a port that a card is below too
    more,       // neighbours that are left out
  };

  Kind kind = Kind::port;
  std::string name;                          // of the function or bus; of a card its Gpu::name
  const host::RootBus* root = nullptr;       // of a root bus
  const host::Function* function = nullptr;  // of the others, where it is known
  const host::Gpu* gpu = nullptr;            // of a card
  size_t depth = 0;                          // 0: a root bus or an unknown place
  bool is_last = true;                       // among its siblings
  size_t num_left_out = 0;                   // of `more`
  // Of what is above, `max` being what both ends can do. On the lower end's row; on the upper end's
  // only if the lower one is not drawn.
  std::optional<host::Link> link = {};
};

// The rows in the order of drawing. They point into `facts`. Every card is in exactly one, also if
// its way up is unknown or goes in a circle. Time is proportional to the number of functions (times
// a logarithm). Any thread. Judge: tests/doctor/tree_test.cpp.
std::vector<TreeRow> tree_of(const host::HostFacts& facts);

}  // namespace evener::doctor
