#include "doctor/report_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "doctor/fixes.h"
#include "doctor/tree.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(utf8::replace_invalid(text));
}

Json text(std::string_view text) { return utf8::replace_invalid(text); }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json texts(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push_back(text(line));
  return list;
}

// Appends what `make` makes of each element.
template <class T, class Make>
Json list_of(const std::vector<T>& elements, Make make) {
  Json list = Json::array();
  for (const T& element : elements) list.push_back(make(element));
  return list;
}

Json address_or_null(const std::optional<uint64_t>& address) {
  return address ? Json(address_text(*address)) : Json();
}

Json iommu_of(const std::optional<host::IommuMode>& mode) {
  constexpr const char* kNames[] = {"off", "identity", "translated"};
  return mode ? Json(kNames[static_cast<size_t>(*mode)]) : Json();
}

Json machine_of(const host::HostFacts& facts) {
  const host::Machine& machine = facts.machine;
  return {{"board", text_or_null(machine.board)}, {"bios", text_or_null(machine.bios)},
          {"cpu", text_or_null(machine.cpu)},     {"sockets", or_null(machine.num_sockets)},
          {"guest", or_null(machine.guest)},      {"kernel", text_or_null(facts.kernel.release)},
          {"iommu", iommu_of(facts.iommu)},       {"complete", facts.complete}};
}

Json pair_of(const PairReport& pair) {
  return {{"a", text(pair.a)},
          {"b", text(pair.b)},
          {"verdict", to_string(pair.verdict)},
          {"verified", pair.verified},
          {"route", to_string(pair.route)},
          {"rules", texts(pair.rules)},
          {"because", text(pair.because)},
          {"raw_gbs", or_null(pair.raw_gb_per_s)}};
}

Json bar_of(const BarReport& bar) {
  return {{"gpu", text(bar.gpu)},
          {"now", or_null(bar.now_bytes)},
          {"need", or_null(bar.need_bytes)},
          {"max", or_null(bar.max_bytes)}};
}

Json hop_of(const Hop& hop) {
  return {{"hop", text(hop.port)},
          {"gts", or_null(hop.gts)},
          {"width", or_null(hop.width)},
          {"raw_gbs", or_null(hop.raw_gb_per_s)},
          {"idle", hop.idle_reading}};
}

Json finding_of(const Finding& finding) {
  return {{"rule", text(finding.rule)},    {"severity", to_string(finding.severity)},
          {"title", text(finding.title)},  {"gpus", texts(finding.gpus)},
          {"pairs", texts(finding.pairs)}, {"evidence", texts(finding.evidence)},
          {"says", texts(finding.says)},   {"fixes", texts(finding.fixes)}};
}

Json fix_of(const std::string& id) {
  Json object = {{"id", text(id)}};
  const Fix* fix = find_fix(id);
  if (!fix) return object;
  object["action"] = text(fix->action);
  object["risk"] = to_string(fix->risk);
  object["undo"] = text_or_null(fix->undo);
  object["verify"] = text_or_null(fix->verify);
  object["command"] = text_or_null(fix->command);
  return object;
}

Json advice_of(const ModeAdvice& advice) {
  return {{"mode", text(advice.mode)},
          {"gpus", texts(advice.gpus)},
          {"why", text(advice.why)},
          {"arithmetic", texts(advice.arithmetic)}};
}

Json power_of(const PowerEstimate& power) {
  return {{"cards_watts", or_null(power.cards_watts)},
          {"system_watts", or_null(power.system_watts)},
          {"arithmetic", texts(power.arithmetic)}};
}

// ---- the tree: rows in the order of drawing

std::string_view kind_of(const TreeRow& row) {
  using Kind = TreeRow::Kind;
  switch (row.kind) {
    case Kind::root_bus:
      return "root-bus";
    case Kind::unknown_place:
      return "unknown";
    case Kind::port:
      return "port";
    case Kind::gpu:
      return "gpu";
    case Kind::neighbour:
      return "neighbour";
    case Kind::more:
      return "more";
  }
  return "unknown";
}

Json port_kind_of(const host::Function& function) {
  constexpr const char* kNames[] = {"root", "sw-up", "sw-down", "card-up", "card-down"};
  return function.port ? Json(kNames[static_cast<size_t>(*function.port)]) : Json();
}

Json link_of(const std::optional<host::Link>& link) {
  if (!link) return {};
  return {{"max_gts", or_null(link->max_gts)},
          {"max_w", or_null(link->max_width)},
          {"now_gts", or_null(link->now_gts)},
          {"now_w", or_null(link->now_width)},
          {"under_load", or_null(link->under_load)}};
}

Json window_of(const host::Window& window) {
  if (!window.size_bytes) return {};
  return {{"base", address_or_null(window.base)}, {"bytes", *window.size_bytes}};
}

Json bars_of(const host::Function& function) {
  return list_of(function.bars, [](const host::Bar& bar) -> Json {
    return {{"index", bar.index},
            {"bytes", or_null(bar.size_bytes)},
            {"base", address_or_null(bar.base)},
            {"prefetchable", or_null(bar.prefetchable)}};
  });
}

void add_function(const TreeRow& drawn, Json& row) {
  const host::Function& function = *drawn.function;
  row["bdf"] = function.address ? Json(to_string(*function.address)) : Json();
  row["id"] = function.id ? Json(to_string(*function.id)) : Json();
  row["description"] = text_or_null(function.description);
  row["slot"] = text_or_null(function.slot);
  row["link"] = link_of(drawn.link);
  if (function.is_bridge) {
    row["port"] = port_kind_of(function);
    row["window"] = window_of(function.prefetchable);
    row["acs_redirects"] = function.acs ? Json(function.acs->redirects()) : Json();
  } else {
    row["bars"] = bars_of(function);
    row["driver"] = function.driver ? text(*function.driver) : Json();
  }
}

void add_card(const host::Gpu& gpu, Json& row) {
  row["model"] = text_or_null(gpu.model);
  row["gfx"] = text_or_null(gpu.gfx);
  row["vram"] = or_null(gpu.vram_bytes);
  row["vram_bar"] = or_null(gpu.vram_bar);
}

Json row_of(const TreeRow& row) {
  Json object = {{"depth", row.depth}, {"kind", kind_of(row)}, {"name", text(row.name)}};
  if (row.root) {
    object["numa"] = or_null(row.root->numa_node);
    object["first"] = row.root->first.id ? Json(to_string(*row.root->first.id)) : Json();
    object["window"] = window_of(row.root->memory_64);
  }
  if (row.gpu) add_card(*row.gpu, object);
  if (row.function) add_function(row, object);
  if (row.num_left_out > 0) object["left_out"] = row.num_left_out;
  return object;
}

Json missing_of(const host::Missing& missing) {
  return {{"what", text(missing.what)},
          {"why", text_or_null(missing.why)},
          {"remedy", text_or_null(missing.remedy)}};
}

Json links_of(const LinkReport& links) {
  return {{"gpu", text(links.gpu)}, {"hops", list_of(links.hops, hop_of)}};
}

}  // namespace

std::string report_json(const host::HostFacts& facts, const Report& report,
                        const Changes* changes) {
  Json object = {{"schema", 1}, {"summary", text(report.summary)}};
  object["findings_found"] = has_findings(report);
  object["machine"] = machine_of(facts);
  object["gpus"] = list_of(facts.gpus, [](const host::Gpu& gpu) { return text(gpu.name); });
  object["pairs"] = list_of(report.pairs, pair_of);
  object["bars"] = list_of(report.bars, bar_of);
  object["bottleneck"] = report.bottleneck ? hop_of(*report.bottleneck) : Json();
  object["fixes"] = texts(report.fixes);
  object["fix_details"] = list_of(report.fixes, fix_of);
  object["findings"] = list_of(report.findings, finding_of);
  object["links"] = list_of(report.links, links_of);
  object["advice"] = list_of(report.advice, advice_of);
  object["power"] = power_of(report.power);
  object["kernel_help"] = texts(report.kernel_help);
  object["tree"] = list_of(tree_of(facts), row_of);
  object["missing"] = list_of(facts.missing, missing_of);
  object["contradictions"] = texts(facts.contradictions);
  if (changes) {
    object["changes"] = {{"facts", texts(changes->facts)}, {"verdicts", texts(changes->verdicts)}};
  }
  constexpr int kIndent = 1;
  return object.dump(kIndent) + "\n";
}

}  // namespace evener::doctor
