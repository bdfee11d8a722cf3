// F. The route between cards with a port above both. pci-p2p.md, 1.1 and 1.4.
#include <fmt/format.h>

#include "doctor/finding.h"
#include "doctor/path.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

bool is_below_switch(const Case& c, const Pair& pair) {
  return pair.path.common != nullptr && !c.is_guest;
}

std::vector<std::string> redirects(const Pair& pair) {
  std::vector<std::string> lines;
  for (const host::Function* port : pair.path.redirecting) {
    lines.push_back(fmt::format("ACS control of {}: {:#06x} = {}", port->name, port->acs->control,
                                acs_text(port->acs->control)));
  }
  return lines;
}

Outcome through_root(const Pair& pair) {
  Outcome result = degrades("ACS sends traffic between siblings up through the root complex");
  result.finding.evidence = redirects(pair);
  return result;
}

std::optional<Outcome> judge_direct(const Case& c, const Pair& pair) {
  const bool is_clear =
      is_below_switch(c, pair) && !pair.path.redirects() && pair.path.unread.empty();
  if (!is_clear) return {};
  Outcome result = passes("The switch turns peer traffic round itself");
  result.finding.evidence = {"port above both: " + pair.path.common->name,
                             "no port of the path redirects"};
  return result;
}

std::optional<Outcome> judge_zen(const Case& c, const Pair& pair) {
  if (!is_below_switch(c, pair) || !pair.path.redirects() || c.is_zen() != true) return {};
  Outcome result = through_root(pair);
  result.finding.says = {"The kernel accepts it: any AMD CPU since Zen."};
  result.finding.fixes = {"F11", "F10"};
  return result;
}

bool is_listed(const Case& c, const Pair& pair) {
  if (pair.a->way.root == nullptr) return false;
  return c.list_answers.at(pair.a->way.root).kind == ListAnswer::Kind::matched;
}

std::optional<Outcome> judge_listed(const Case& c, const Pair& pair) {
  if (!is_below_switch(c, pair) || !pair.path.redirects() || c.is_zen() != false) return {};
  // NVIDIA's modules do not ask the kernel's list; the detour is the same.
  if (pair.asks_kernel() && !is_listed(c, pair)) return {};
  Outcome result = through_root(pair);
  result.finding.fixes = {"F10"};
  return result;
}

bool is_refused(const Case& c, const Pair& pair) {
  if (pair.a->way.root == nullptr) return false;
  const ListAnswer& answer = c.list_answers.at(pair.a->way.root);
  return answer.kind == ListAnswer::Kind::unmatched ||
         answer.kind == ListAnswer::Kind::lookup_fails;
}

std::optional<Outcome> judge_unlisted(const Case& c, const Pair& pair) {
  if (!is_below_switch(c, pair) || !pair.path.redirects() || c.is_zen() != false) return {};
  if (!pair.asks_kernel() || !is_refused(c, pair)) return {};
  Outcome result = blocks("ACS sends siblings through a host bridge that is not on the list");
  result.refuses_route = true;
  result.finding.evidence = redirects(pair);
  result.finding.says = {
      "With redirect off on every one of these ports the switch could turn the traffic round "
      "itself, and the list would not be asked. A BIOS option for ACS may do it as well."};
  result.finding.fixes = {"F11", "F10"};
  return result;
}

}  // namespace

const Rule r50{.id = "R50", .pair = judge_direct};
const Rule r51{.id = "R51", .pair = judge_zen};
const Rule r52{.id = "R52", .pair = judge_listed};
const Rule r53{.id = "R53", .pair = judge_unlisted};

}  // namespace evener::doctor
