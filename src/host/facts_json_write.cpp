#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "host/fact_words.h"
#include "host/facts_json.h"

namespace evener::host {
namespace {

using json::Value;

// null for what is not known: the members of section 4 are always there.
template <class T>
Value known(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}
Value known(const std::string& text) { return text.empty() ? Value() : Value(text); }
Value known(const std::optional<PciId>& id) { return id ? Value(to_string(*id)) : Value(); }
Value hex(const std::optional<uint64_t>& address) {
  return address ? Value(fmt::format("{:#x}", *address)) : Value();
}

template <class Enum, size_t N>
Value word(const Words<Enum, N>& words, const std::optional<Enum>& value) {
  return value ? Value(word_of(words, *value)) : Value();
}

// Our own members are there when there is something to say.
void add(Value& object, const char* name, Value value) {
  const bool is_empty = value.is_null() || (value.is_structured() && value.empty());
  if (!is_empty) object[name] = std::move(value);
}

Value settings(const std::vector<Setting>& list) {
  Value object = Value::object();
  for (const Setting& setting : list) object[setting.name] = setting.value;
  return object;
}

Value node_objects(const std::vector<NumaNode>& nodes) {
  Value list = Value::array();
  for (const NumaNode& node : nodes) {
    list.push_back({{"node", node.node}, {"cpus", node.cpus}, {"distances", node.distances}});
  }
  return list;
}

Value machine_object(const Machine& machine) {
  Value host = {{"board", known(machine.board)},
                {"bios", known(machine.bios)},
                {"cpu", known(machine.cpu)},
                {"cpu_vendor", known(machine.cpu_vendor)},
                {"cpu_family", known(machine.cpu_family)},
                {"sockets", known(machine.num_sockets)},
                {"phys_bits", known(machine.physical_address_bits)},
                {"guest", known(machine.guest)}};
  add(host, "cpu_model", known(machine.cpu_model));
  add(host, "numa_nodes", node_objects(machine.numa_nodes));
  return host;
}

Value kernel_object(const Kernel& kernel) {
  Value object = {{"release", known(kernel.release)},
                  {"config", settings(kernel.config)},
                  {"cmdline", known(kernel.command_line)},
                  {"unknown_options", kernel.unknown_options},
                  {"patches", kernel.patches}};
  add(object, "module_parameters", settings(kernel.module_parameters));
  return object;
}

Value root_bus(const RootBus& root) {
  Value object = {{"bus", root.bus},
                  {"first",
                   {{"bdf", known(root.first.name)},
                    {"id", known(root.first.id)},
                    {"is_root_port", known(root.first.is_root_port)}}},
                  {"numa", known(root.numa_node)},
                  {"pref64_bytes", known(root.memory_64.size_bytes)},
                  {"pref64_base", hex(root.memory_64.base)}};
  Value below = Value::array();
  for (const Window& window : root.memory_below) {
    below.push_back({{"base", hex(window.base)}, {"bytes", known(window.size_bytes)}});
  }
  add(object, "below_4g", std::move(below));
  return object;
}

Value bar_object(const Bar& bar) {
  Value object = {{"index", bar.index}, {"bytes", known(bar.size_bytes)}, {"base", hex(bar.base)}};
  add(object, "pref", known(bar.prefetchable));
  add(object, "is_64_bit", known(bar.is_64_bit));
  return object;
}

Value bars(const Function& function, std::optional<unsigned> but) {
  Value list = Value::array();
  for (const Bar& bar : function.bars) {
    if (bar.index == but) continue;
    Value object = bar_object(bar);
    if (bar.resizable) object["rebar_supported"] = *bar.resizable;
    list.push_back(std::move(object));
  }
  return list;
}

Value acs_object(const std::optional<Acs>& acs) {
  if (!acs) return {};
  if (!acs->present) return "none";
  Value object = {{"rr", acs->request_redirect() ? 1 : 0},
                  {"cr", acs->completion_redirect() ? 1 : 0},
                  {"ec", acs->egress_control() ? 1 : 0}};
  if ((acs->control & ~0x2c) != 0) object["control"] = acs->control;
  return object;
}

Value link_object(const std::optional<Link>& link) {
  if (!link) return {};
  return {{"max_gts", known(link->max_gts)},
          {"max_w", known(link->max_width)},
          {"now_gts", known(link->now_gts)},
          {"now_w", known(link->now_width)},
          {"under_load", known(link->under_load)}};
}

Value atomics_object(const std::optional<Atomics>& atomics) {
  if (!atomics) return {};
  return {{"routing", known(atomics->routing)},
          {"completer_32", known(atomics->completer_32)},
          {"completer_64", known(atomics->completer_64)},
          {"requester_enabled", known(atomics->requester_enabled)}};
}

Value class_word(const std::optional<uint32_t>& code) {
  return code ? Value(fmt::format("0x{:06x}", *code)) : Value();
}

Value function_object(const Function& function) {
  Value object = {
      {"bdf", function.name}, {"id", known(function.id)}, {"parent", known(function.parent)}};
  add(object, "subsystem", known(function.subsystem));
  add(object, "class", class_word(function.class_code));
  add(object, "description", known(function.description));
  add(object, "slot", known(function.slot));
  add(object, "acs", acs_object(function.acs));
  add(object, "link", link_object(function.link));
  add(object, "atomics", atomics_object(function.atomics));
  add(object, "iommu_group", known(function.iommu_group));
  add(object, "iommu", word(kIommuWords, function.iommu));
  add(object, "numa", known(function.numa_node));
  add(object, "driver", known(function.driver));
  add(object, "dma_mask_bits", known(function.dma_mask_bits));
  add(object, "suspended", known(function.suspended));
  add(object, "aer_correctable", known(function.aer_correctable));
  return object;
}

Value port_object(const Function& port) {
  Value object = function_object(port);
  object["kind"] = word(kPortWords, port.port);
  object["pref_bytes"] = known(port.prefetchable.size_bytes);
  object["acs"] = acs_object(port.acs);
  object["link"] = link_object(port.link);
  add(object, "pref_base", hex(port.prefetchable.base));
  add(object, "mem_bytes", known(port.memory.size_bytes));
  add(object, "mem_base", hex(port.memory.base));
  add(object, "bars", bars(port, {}));
  return object;
}

Value device_object(const Function& function) {
  Value object = function_object(function);
  add(object, "bars", bars(function, {}));
  return object;
}

void add_vram_bar(const Gpu& gpu, const Function& function, Value& object) {
  object["bar"] = Value();
  object["rebar_supported"] = Value();
  const auto at = std::ranges::find_if(function.bars,
                                       [&](const Bar& bar) { return gpu.vram_bar == bar.index; });
  if (at != function.bars.end()) {
    object["bar"] = bar_object(*at);
    object["rebar_supported"] = known(at->resizable);
  } else if (gpu.vram_bar) {
    Bar unknown;
    unknown.index = *gpu.vram_bar;
    object["bar"] = bar_object(unknown);
  }
  add(object, "bars", bars(function, gpu.vram_bar));
}

Value gpu_object(const Gpu& gpu, const Function& function) {
  Value object = function_object(function);
  object["name"] = gpu.name;
  object["model"] = known(gpu.model);
  object["gfx"] = known(gpu.gfx);
  object["vram"] = known(gpu.vram_bytes);
  object["dma_mask_bits"] = known(function.dma_mask_bits);
  object["driver"] = known(function.driver);
  object["kfd"] = known(gpu.in_kfd);
  add_vram_bar(gpu, function, object);
  add(object, "visible_vram", known(gpu.visible_vram_bytes));
  add(object, "power_limit_watts", known(gpu.power_limit_watts));
  return object;
}

// One rate without an owner is a number, several are a list, others go by their owner.
void add_rates(const Observed& observed, Value& object) {
  for (const Observed::Rate& rate : observed.rates) {
    Value& at = object[rate.what];
    if (!rate.of.empty()) {
      at[rate.of] = rate.gb_per_s;
    } else if (at.is_null()) {
      at = rate.gb_per_s;
    } else {
      if (at.is_number()) at = Value::array({at});
      at.push_back(rate.gb_per_s);
    }
  }
}

Value observed_object(const Observed& observed) {
  Value object = observed.other.is_object() ? observed.other : Value::object();
  for (const PeerObservation& peer : observed.peers) {
    Value row = Value::array({peer.from, peer.to, peer.allowed});
    if (!peer.reason.empty()) row.push_back(peer.reason);
    object["peer"].push_back(std::move(row));
  }
  add_rates(observed, object);
  if (!object.contains("data_check")) add(object, "data_check", known(observed.data_check));
  add(object, "stability", known(observed.stability));
  return object;
}

void add_lists(const HostFacts& facts, Value& document) {
  for (const char* name : {"roots", "ports", "gpus"}) document[name] = Value::array();
  for (const RootBus& root : facts.roots) document["roots"].push_back(root_bus(root));
  std::unordered_set<std::string_view> cards;
  for (const Gpu& gpu : facts.gpus) {
    cards.insert(gpu.function);
    Function nameless;
    nameless.name = gpu.function;
    const Function* function = find_function(facts, gpu.function);
    document["gpus"].push_back(gpu_object(gpu, function != nullptr ? *function : nameless));
  }
  for (const Function& function : facts.functions) {
    if (cards.contains(function.name)) continue;
    if (function.is_bridge) {
      document["ports"].push_back(port_object(function));
    } else {
      document["devices"].push_back(device_object(function));
    }
  }
}

void add_ends(const HostFacts& facts, Value& document) {
  document["log"] = facts.log;
  document["observed"] = observed_object(facts.observed);
  document["placeholders"] = facts.placeholders;
  document["complete"] = facts.complete;
  for (const Missing& missing : facts.missing) {
    document["missing"].push_back(
        {{"what", missing.what}, {"why", missing.why}, {"remedy", missing.remedy}});
  }
  add(document, "contradictions", facts.contradictions);
}

}  // namespace

std::string facts_to_json(const HostFacts& facts) {
  Value document = {{"schema", 1},
                    {"host", machine_object(facts.machine)},
                    {"kernel", kernel_object(facts.kernel)},
                    {"iommu", word(kIommuWords, facts.iommu)}};
  add_lists(facts, document);
  add_ends(facts, document);
  return document.dump(1, ' ', false, Value::error_handler_t::replace) + "\n";
}

}  // namespace evener::host
