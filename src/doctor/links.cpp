#include "doctor/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "doctor/case.h"

namespace evener::doctor {
namespace {

using host::Function;
using host::Link;
using host::PortKind;

struct Generation {
  double gts = 0;
  double gb_per_s = 0;  // of one lane
};

// 8b/10b up to 5 GT/s, 128b/130b up to 32, flits of 242 in 256 bytes above.
constexpr std::array kGenerations = {
    Generation{2.5, 0.25},
    Generation{5, 0.5},
    Generation{8, 8 * 128.0 / 1040},
    Generation{16, 16 * 128.0 / 1040},
    Generation{32, 32 * 128.0 / 1040},
    Generation{64, 8 * 242.0 / 256},
};

const Generation* find_generation(double gts) {
  const auto* at = std::ranges::find_if(
      kGenerations, [&](const Generation& g) { return std::abs(g.gts - gts) < 0.2; });
  return at == kGenerations.end() ? nullptr : at;
}

bool looks_down(const Function& port) {
  return port.port == PortKind::root || port.port == PortKind::switch_down ||
         port.port == PortKind::card_down;
}

bool looks_up(const Function& port) {
  return port.port == PortKind::switch_up || port.port == PortKind::card_up;
}

template <class T>
std::optional<T> either(const LinkEnds& ends, std::optional<T> Link::* member) {
  for (const Function* end : {ends.upper, ends.lower}) {
    if (end == nullptr || !end->link || end->suspended.value_or(false)) continue;
    if ((*end->link).*member) return (*end->link).*member;
  }
  return {};
}

template <class T>
std::optional<T> least(const LinkEnds& ends, std::optional<T> Link::* member) {
  if (ends.upper == nullptr || ends.lower == nullptr) return {};
  if (!ends.upper->link || !ends.lower->link) return {};
  const std::optional<T> upper = (*ends.upper->link).*member;
  const std::optional<T> lower = (*ends.lower->link).*member;
  if (!upper || !lower) return {};
  return std::min(*upper, *lower);
}

// Slower than both ends can, at full width, while nothing was copied: perhaps only asleep.
bool may_be_idle(const LinkEnds& link) {
  const auto now = link.gts();
  if (!now || link.under_load().value_or(false)) return false;
  const auto possible = link.gts_possible();
  return !possible || *now < *possible;
}

std::optional<double> raw_of(const LinkEnds& link) {
  const auto width = link.width();
  const auto gts = may_be_idle(link) && link.gts_possible() ? link.gts_possible() : link.gts();
  if (!gts || !width || find_generation(*gts) == nullptr) return {};
  return raw_gb_per_s(*gts, *width);
}

std::optional<double> least_raw(const std::vector<LinkEnds>& links) {
  std::optional<double> result;
  for (const LinkEnds& link : links) {
    if (link.is_internal) continue;
    const auto raw = raw_of(link);
    if (!raw) return {};
    result = result ? std::min(*result, *raw) : raw;
  }
  return result;
}

// Those below the port that both ways share; the link above it is not used.
std::vector<LinkEnds> links_below(const Card& card, const Function* common) {
  std::vector<LinkEnds> links = links_of(card);
  if (common == nullptr) return links;
  std::vector<const Function*> under = {card.function};
  for (const Function* port : card.way.ports) {
    if (port == common) break;
    under.push_back(port);
  }
  std::erase_if(links, [&](const LinkEnds& link) {
    return std::ranges::find(under, link.lower) == under.end();
  });
  return links;
}

}  // namespace

double raw_gb_per_s(double gts, unsigned width) {
  const Generation* generation = find_generation(gts);
  return generation == nullptr ? 0 : generation->gb_per_s * width;
}

std::string link_text(double gts, unsigned width) {
  const Generation* generation = find_generation(gts);
  if (generation == nullptr) return fmt::format("{} GT/s x{}", gts, width);
  return fmt::format("Gen{} x{}", generation - kGenerations.data() + 1, width);
}

std::optional<double> LinkEnds::gts() const { return either(*this, &Link::now_gts); }
std::optional<unsigned> LinkEnds::width() const { return either(*this, &Link::now_width); }
std::optional<bool> LinkEnds::under_load() const { return either(*this, &Link::under_load); }
std::optional<double> LinkEnds::gts_possible() const { return least(*this, &Link::max_gts); }
std::optional<unsigned> LinkEnds::width_possible() const { return least(*this, &Link::max_width); }

std::vector<LinkEnds> links_of(const Card& card) {
  std::vector<LinkEnds> links;
  const Function* lower = card.function;
  for (const Function* port : card.way.ports) {
    const bool is_link = looks_down(*port) || (!looks_up(*port) && (lower->link || port->link));
    if (is_link) links.push_back({port, lower, port->port == PortKind::card_down});
    lower = port;
  }
  return links;
}

Hop hop_of(const LinkEnds& link) {
  Hop hop;
  if (link.lower != nullptr) hop.port = link.lower->name;
  hop.gts = link.gts();
  hop.width = link.width();
  if (hop.gts && hop.width && find_generation(*hop.gts) != nullptr) {
    hop.raw_gb_per_s = raw_gb_per_s(*hop.gts, *hop.width);
  }
  hop.idle_reading = may_be_idle(link);
  return hop;
}

LinkReport link_report(const Card& card) {
  LinkReport report;
  report.gpu = card.name();
  for (const LinkEnds& link : links_of(card)) report.hops.push_back(hop_of(link));
  return report;
}

std::optional<double> raw_to_root(const Card& card) {
  if (card.way.root == nullptr) return {};
  return least_raw(links_of(card));
}

std::optional<double> raw_of_path(const Card& a, const Card& b, const Path& path) {
  if (!path.is_known) return {};
  std::vector<LinkEnds> links = links_below(a, path.redirects() ? nullptr : path.common);
  const std::vector<LinkEnds> others = links_below(b, path.redirects() ? nullptr : path.common);
  links.insert(links.end(), others.begin(), others.end());
  return least_raw(links);
}

std::optional<Hop> slowest_hop(const Case& c) {
  std::optional<Hop> slowest;
  std::optional<double> least;
  for (const Card& card : c.cards) {
    for (const LinkEnds& link : links_of(card)) {
      const auto raw = link.is_internal ? std::nullopt : raw_of(link);
      if (!raw || (least && *least <= *raw)) continue;
      least = raw;
      slowest = hop_of(link);
    }
  }
  return slowest;
}

}  // namespace evener::doctor
