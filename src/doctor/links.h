#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/report.h"
#include "host/facts.h"

namespace evener::doctor {

struct Card;
struct Case;
struct Path;

// What a link carries in one direction before packets take their share; pci-p2p.md, 5.1.
double raw_gb_per_s(double gts, unsigned width);

// "Gen3 x8": a speed as people name it. "8 GT/s x8" for one that is no generation's.
std::string link_text(double gts, unsigned width);

// A link between two ends, both of which the facts may describe.
struct LinkEnds {
  const host::Function* upper = nullptr;  // a port that looks down; null: not known
  const host::Function* lower = nullptr;
  bool is_internal = false;  // on a card, behind its own switch: says nothing about the slot

  std::optional<double> gts() const;
  std::optional<unsigned> width() const;
  // What both ends can do; empty unless both say it.
  std::optional<double> gts_possible() const;
  std::optional<unsigned> width_possible() const;
  std::optional<bool> under_load() const;
};

// From the card up to the root bus. An upstream port and the downstream ports of its switch have no
// link between them.
std::vector<LinkEnds> links_of(const Card& card);

Hop hop_of(const LinkEnds& link);
LinkReport link_report(const Card& card);

// Links outside of cards on the path, and the least of them in GB/s; empty: one is not known.
std::optional<double> raw_of_path(const Card& a, const Card& b, const Path& path);
std::optional<double> raw_to_root(const Card& card);

// The slowest link on the way of any card, as far as the readings can be believed.
std::optional<Hop> slowest_hop(const Case& c);

}  // namespace evener::doctor
