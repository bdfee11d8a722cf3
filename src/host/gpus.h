#pragma once

#include <vector>

#include "host/kfd_text.h"
#include "host/seen.h"
#include "host/tools_text.h"

namespace evener::host {

// Finds the graphics cards among the functions and adds them to `facts`, in order of address, with
// the names A, B, ... May add to a card's function what a table knows, marked as a placeholder.
// `has_kfd`: the compute driver's list was captured, so cards that it lacks are not in it.
void add_gpus(Sightings& functions, bool has_kfd, HostFacts& facts);

CardOrder card_order(const HostFacts& facts);

// What was observed of cards, by their names.
void add_peers(const std::vector<PeerSeen>& peers, HostFacts& facts);
void add_tools(const Tools& tools, HostFacts& facts);

// Since Linux 6.0 the driver lists every grant: two of its cards without one were refused.
void add_refusals(const std::vector<PeerSeen>& granted, HostFacts& facts);

}  // namespace evener::host
