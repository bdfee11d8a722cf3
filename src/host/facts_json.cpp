#include "host/facts_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "host/fact_fields.h"
#include "host/fact_words.h"
#include "host/limits.h"
#include "host/observed_json.h"

namespace evener::host {
namespace {

constexpr unsigned kLanesMax = 64;
constexpr unsigned kGroupMax = 1'000'000;

// A name as other objects refer to it: addresses in full. A bus has its domain in front, as "a0"
// alone may be anybody's label.
std::string canonical(const std::string& name) {
  if (const auto address = parse_pci_address(name)) return to_string(*address);
  const bool may_be_bus = name.find(':') != std::string::npos;
  if (const auto bus = may_be_bus ? canonical_bus(name) : std::nullopt) return *bus;
  return name;
}

template <class Enum, size_t N>
void read_word(const FactFields& fields, std::string_view name, const Words<Enum, N>& words,
               std::optional<Enum>& out) {
  std::string text;
  fields.text(name, text);
  if (text.empty()) return;
  out = value_of(words, text);
  if (!out) fields.fail(name, fmt::format("is none of {}", list_of(words)));
}

void read_node(const FactFields& fields, NumaNode& node) {
  std::optional<unsigned> number;
  fields.count("node", number, kNodesMax);
  node.node = number.value_or(0);
  fields.text("cpus", node.cpus);
  fields.each("distances", [&](const json::Value& value, size_t) {
    const bool is_distance = value.is_number_unsigned() && value <= 255;
    if (!is_distance) return fields.fail("distances", "has one that is not from 0 to 255");
    node.distances.push_back(value.get<unsigned>());
  });
}

void read_machine(const FactFields& host, Machine& machine) {
  host.text("board", machine.board);
  host.text("bios", machine.bios);
  host.text("cpu", machine.cpu);
  host.text("cpu_vendor", machine.cpu_vendor);
  host.count("cpu_family", machine.cpu_family, kCpuNumberMax);
  host.count("cpu_model", machine.cpu_model, kCpuNumberMax);
  host.count("sockets", machine.num_sockets, kSocketsMax);
  host.count("phys_bits", machine.physical_address_bits, kAddressBitsMax);
  host.flag("guest", machine.guest);
  host.each_object("numa_nodes", [&](const FactFields& fields, size_t) {
    read_node(fields, machine.numa_nodes.emplace_back());
  });
}

// {"CONFIG_HSA_AMD_P2P": "y"}; true and false are understood too.
void read_settings(const FactFields& kernel, std::string_view name, std::vector<Setting>& out) {
  const json::Value* object = kernel.find(name);
  if (object == nullptr) return;
  if (!object->is_object()) return kernel.fail(name, "is not an object of names and values");
  for (const auto& [key, value] : object->items()) {
    if (value.is_null()) continue;
    if (value.is_string()) {
      out.push_back({key, value.get<std::string>()});
    } else if (value.is_boolean()) {
      out.push_back({key, value.get<bool>() ? "y" : "n"});
    } else {
      out.push_back({key, value.dump()});
    }
  }
}

void read_kernel(const FactFields& fields, Kernel& kernel) {
  fields.text("release", kernel.release);
  read_settings(fields, "config", kernel.config);
  read_settings(fields, "module_parameters", kernel.module_parameters);
  fields.text("cmdline", kernel.command_line);
  fields.texts("unknown_options", kernel.unknown_options);
  fields.texts("patches", kernel.patches);
}

void read_root(const FactFields& fields, RootBus& root) {
  fields.text("bus", root.bus);
  if (const auto bus = canonical_bus(root.bus)) root.bus = *bus;
  fields.object("first", [&](const FactFields& first) {
    first.text("bdf", root.first.name);
    root.first.name = canonical(root.first.name);
    first.id("id", root.first.id);
    first.flag("is_root_port", root.first.is_root_port);
  });
  fields.node("numa", root.numa_node);
  fields.size("pref64_bytes", root.memory_64.size_bytes);
  fields.address("pref64_base", root.memory_64.base);
  fields.each_object("below_4g", [&](const FactFields& window, size_t) {
    Window& read = root.memory_below.emplace_back();
    window.address("base", read.base);
    window.size("bytes", read.size_bytes);
  });
}

void read_bar(const FactFields& fields, Bar& bar) {
  std::optional<unsigned> index;
  fields.count("index", index, 5);
  bar.index = index.value_or(0);
  fields.size("bytes", bar.size_bytes);
  fields.address("base", bar.base);
  fields.flag("pref", bar.prefetchable);
  fields.flag("is_64_bit", bar.is_64_bit);
  fields.sizes("rebar_supported", bar.resizable);
}

void read_bit(const FactFields& fields, std::string_view name, unsigned bit, Acs& acs) {
  const json::Value* value = fields.find(name);
  if (value == nullptr) return;
  const bool on = *value == true || *value == 1;
  if (!on && *value != false && *value != 0) return fields.fail(name, "is neither 0 nor 1");
  if (on) acs.control = static_cast<uint16_t>(acs.control | bit);
}

// {"rr":1,"cr":1,"ec":0}, with the other bits of the register in "control"; or "none".
void read_acs(const FactFields& fields, std::optional<Acs>& acs) {
  const json::Value* value = fields.find("acs");
  if (value == nullptr) return;
  acs.emplace();
  if (*value == "none") return;
  acs->present = true;
  fields.object("acs", [&](const FactFields& bits) {
    std::optional<unsigned> control;
    bits.count("control", control, 0xffff);
    acs->control = static_cast<uint16_t>(control.value_or(0));
    read_bit(bits, "rr", 0x04, *acs);
    read_bit(bits, "cr", 0x08, *acs);
    read_bit(bits, "ec", 0x20, *acs);
  });
}

void read_link(const FactFields& fields, std::optional<Link>& link) {
  fields.object("link", [&](const FactFields& ends) {
    link.emplace();
    ends.number("max_gts", link->max_gts);
    ends.count("max_w", link->max_width, kLanesMax);
    ends.number("now_gts", link->now_gts);
    ends.count("now_w", link->now_width, kLanesMax);
    ends.flag("under_load", link->under_load);
  });
}

void read_atomics(const FactFields& fields, std::optional<Atomics>& atomics) {
  fields.object("atomics", [&](const FactFields& bits) {
    atomics.emplace();
    bits.flag("routing", atomics->routing);
    bits.flag("completer_32", atomics->completer_32);
    bits.flag("completer_64", atomics->completer_64);
    bits.flag("requester_enabled", atomics->requester_enabled);
  });
}

void read_class(const FactFields& fields, Function& function) {
  std::optional<uint64_t> code;
  fields.address("class", code);
  if (!code) return;
  if (*code > 0xffffff) return fields.fail("class", "has more than 24 bits");
  function.class_code = static_cast<uint32_t>(*code);
}

void read_identity(const FactFields& fields, Function& function) {
  fields.id("id", function.id);
  fields.id("subsystem", function.subsystem);
  read_class(fields, function);
  fields.text("description", function.description);
  fields.text("slot", function.slot);
  fields.text("parent", function.parent);
  function.parent = canonical(function.parent);
}

void read_function(const FactFields& fields, Function& function) {
  read_identity(fields, function);
  fields.each_object(
      "bars", [&](const FactFields& bar, size_t) { read_bar(bar, function.bars.emplace_back()); });
  read_acs(fields, function.acs);
  read_link(fields, function.link);
  read_atomics(fields, function.atomics);
  fields.count("iommu_group", function.iommu_group, kGroupMax);
  read_word(fields, "iommu", kIommuWords, function.iommu);
  fields.node("numa", function.numa_node);
  fields.text("driver", function.driver);
  fields.count("dma_mask_bits", function.dma_mask_bits, kAddressBitsMax);
  fields.flag("suspended", function.suspended);
  fields.count("aer_correctable", function.aer_correctable);
}

void read_port(const FactFields& fields, Function& port) {
  port.is_bridge = true;
  read_word(fields, "kind", kPortWords, port.port);
  fields.size("pref_bytes", port.prefetchable.size_bytes);
  fields.address("pref_base", port.prefetchable.base);
  fields.size("mem_bytes", port.memory.size_bytes);
  fields.address("mem_base", port.memory.base);
}

// "bar" and "rebar_supported": of the BAR that shows the VRAM.
void read_vram_bar(const FactFields& fields, Gpu& gpu, Function& function) {
  Bar bar;
  fields.object("bar", [&](const FactFields& inner) {
    read_bar(inner, bar);
    gpu.vram_bar = bar.index;
  });
  fields.sizes("rebar_supported", bar.resizable);
  if (bar.resizable) gpu.vram_bar = bar.index;
  if (gpu.vram_bar) function.bars.insert(function.bars.begin(), std::move(bar));
}

void read_gpu(const FactFields& fields, Gpu& gpu, Function& function) {
  fields.text("name", gpu.name);
  gpu.function = function.name;
  fields.text("model", gpu.model);
  fields.text("gfx", gpu.gfx);
  fields.size("vram", gpu.vram_bytes);
  fields.size("visible_vram", gpu.visible_vram_bytes);
  read_vram_bar(fields, gpu, function);
  fields.flag("kfd", gpu.in_kfd);
  fields.number("power_limit_watts", gpu.power_limit_watts);
}

// Reads one document.
class Reading {
 public:
  explicit Reading(HostFacts& facts) : facts_(facts) {}

  void read(const FactFields& root);

 private:
  void read_lists(const FactFields& root);
  void read_ends(const FactFields& root);
  void name(const FactFields& fields, std::string_view list, size_t index, Function& function);
  bool is_placeholder(std::string_view list, size_t index) const;
  void name_gpus(const FactFields& root);

  HostFacts& facts_;
  std::unordered_set<std::string> names_;
};

void Reading::read(const FactFields& root) {
  root.object("host", [&](const FactFields& host) { read_machine(host, facts_.machine); });
  root.object("kernel", [&](const FactFields& kernel) { read_kernel(kernel, facts_.kernel); });
  read_word(root, "iommu", kIommuWords, facts_.iommu);
  root.texts("placeholders", facts_.placeholders);
  read_lists(root);
  read_ends(root);
}

void Reading::read_lists(const FactFields& root) {
  root.each_object("roots", [&](const FactFields& fields, size_t) {
    read_root(fields, facts_.roots.emplace_back());
  });
  root.each_object("ports", [&](const FactFields& fields, size_t index) {
    Function& port = facts_.functions.emplace_back();
    name(fields, "ports", index, port);
    read_function(fields, port);
    read_port(fields, port);
  });
  root.each_object("gpus", [&](const FactFields& fields, size_t index) {
    Function& function = facts_.functions.emplace_back();
    name(fields, "gpus", index, function);
    read_function(fields, function);
    read_gpu(fields, facts_.gpus.emplace_back(), function);
  });
  root.each_object("devices", [&](const FactFields& fields, size_t index) {
    Function& function = facts_.functions.emplace_back();
    name(fields, "devices", index, function);
    read_function(fields, function);
  });
  name_gpus(root);
  sort_functions(facts_);
}

void Reading::read_ends(const FactFields& root) {
  root.texts("log", facts_.log);
  facts_.observed.other = json::Value::object();
  root.object("observed", [&](const FactFields& fields) {
    read_observed(fields, *root.find("observed"), facts_.observed);
  });
  root.each_object("missing", [&](const FactFields& fields, size_t) {
    Missing& missing = facts_.missing.emplace_back();
    fields.text("what", missing.what);
    fields.text("why", missing.why);
    fields.text("remedy", missing.remedy);
  });
  root.texts("contradictions", facts_.contradictions);
  root.flag("complete", facts_.complete);
}

void Reading::name(const FactFields& fields, std::string_view list, size_t index,
                   Function& function) {
  fields.text("bdf", function.name);
  if (function.name.empty()) function.name = fmt::format("{}[{}]", list, index);
  function.name = canonical(function.name);
  if (!is_placeholder(list, index)) function.address = parse_pci_address(function.name);
  if (!names_.insert(function.name).second) {
    fields.fail("bdf", fmt::format("names '{}', which another device has", function.name));
  }
  if (names_.size() > kFunctionsMax) {
    fields.fail("bdf", fmt::format("is one device too many: at most {} are read", kFunctionsMax));
  }
}

// "gpus[*].bdf" and "gpus[1].bdf", whatever words follow.
bool Reading::is_placeholder(std::string_view list, size_t index) const {
  const std::string all = fmt::format("{}[*].bdf", list);
  const std::string one = fmt::format("{}[{}].bdf", list, index);
  return std::ranges::any_of(facts_.placeholders, [&](const std::string& path) {
    return path.starts_with(all) || path.starts_with(one);
  });
}

void Reading::name_gpus(const FactFields& root) {
  std::unordered_set<std::string> names;
  for (const Gpu& gpu : facts_.gpus) {
    if (gpu.name.empty() || names.insert(gpu.name).second) continue;
    return root.fail("gpus", fmt::format("has two cards that are called '{}'", gpu.name));
  }
  name_nameless_gpus(facts_);
}

Status check_schema(const json::Fields& fields) {
  ASSIGN_OR_RETURN(const uint64_t schema, fields.get_uint_or("schema", 1));
  if (schema == 1) return {};
  Error error = fields.error("schema", fmt::format("is {}, and this Evener knows 1", schema));
  error.code = Code::unsupported;
  error.remedy = "a newer Evener may know it";
  return error;
}

Result<HostFacts> read_document(std::string_view text, std::string_view where) {
  ASSIGN_OR_RETURN(const json::Value document, json::parse(text, where));
  ASSIGN_OR_RETURN(json::Fields fields, json::Fields::of(document, std::string(where)));
  RETURN_IF_ERROR(check_schema(fields));
  HostFacts facts;
  Status status;
  Reading(facts).read(FactFields(std::move(fields), status));
  RETURN_IF_ERROR(std::move(status));
  return facts;
}

}  // namespace

Result<HostFacts> facts_from_json(std::string_view text, std::string_view where) {
  auto facts = read_document(text, where);
  if (facts) return facts;
  Error error = std::move(facts).error();
  error.doing = "read the facts of a machine";
  if (error.code == Code::corrupt && error.remedy.starts_with("the file is cut short")) {
    error.remedy = "it should be facts.json as docs/doctor.md describes it, whole";
  }
  return error;
}

}  // namespace evener::host
