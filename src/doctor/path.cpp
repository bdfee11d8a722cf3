#include "doctor/path.h"

#include <algorithm>
#include <array>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::Function;
using host::PortKind;

const Function* common_port(const WayUp& a, const WayUp& b) {
  for (const Function* port : a.ports) {
    if (leads_through(b, *port)) return port;
  }
  return nullptr;
}

// Upstream ports have no redirect of their own: not knowing their ACS means nothing.
bool decides_by_acs(const Function& port) {
  return port.port != PortKind::switch_up && port.port != PortKind::card_up;
}

void add_ports(const WayUp& way, const Function* end, Path& path) {
  for (const Function* port : way.ports) {
    if (port == end) return;
    path.ports.push_back(port);
  }
}

void sort_by_acs(Path& path) {
  for (const Function* port : path.ports) {
    if (port->acs && port->acs->redirects()) {
      path.redirecting.push_back(port);
    } else if (!port->acs && decides_by_acs(*port)) {
      path.unread.push_back(port);
    }
  }
}

bool are_apart(const Card& a, const Card& b) {
  return a.root != nullptr && b.root != nullptr && a.root != b.root;
}

}  // namespace

Path path_between(const Card& a, const Card& b) {
  Path path;
  path.common = common_port(a.way, b.way);
  add_ports(a.way, path.common, path);
  add_ports(b.way, path.common, path);
  if (path.common != nullptr) path.ports.push_back(path.common);
  path.crosses_bridges = path.common == nullptr && are_apart(a, b);
  path.is_known = path.common != nullptr || path.crosses_bridges ||
                  (a.way.root != nullptr && b.way.root != nullptr);
  sort_by_acs(path);
  return path;
}

// On an AMD host with one host bridge every way between two cards is accepted or refused alike: at
// the most it leads through that bridge. On others it matters whether there is a switch.
Route route_of(const Case& c, const Pair& pair) {
  if (c.is_guest) return Route::unknown;
  const bool is_amd = c.facts.machine.cpu_vendor == "AuthenticAMD";
  const Path& path = pair.path;
  if (path.common != nullptr) return path.redirects() ? Route::root : Route::same_switch;
  if (path.crosses_bridges) return is_amd ? Route::root : Route::cross_host;
  if (path.is_known) return Route::root;
  return is_amd && c.facts.roots.size() == 1 ? Route::root : Route::unknown;
}

std::string acs_text(uint16_t control) {
  static constexpr std::array kBits = {"source validation",      "translation blocking",
                                       "request redirect",       "completion redirect",
                                       "upstream forwarding",    "egress control",
                                       "direct translated peers"};
  std::vector<std::string> on;
  for (size_t bit = 0; bit < kBits.size(); ++bit) {
    if ((control >> bit & 1) != 0) on.emplace_back(kBits[bit]);
  }
  std::string text;
  for (const std::string& name : on) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing on" : text;
}

}  // namespace evener::doctor
