#include "doctor/machines.h"

#include <algorithm>
#include <cstdlib>

namespace evener::doctor {
namespace {

using host::Function;
using host::HostFacts;
using host::PortKind;

void add_root(HostFacts& facts, const std::string& bus, uint16_t first_device) {
  host::RootBus root;
  root.bus = bus;
  root.first.name = bus + ":00.0";
  root.first.id = host::PciId{0x8086, first_device};
  root.first.is_root_port = false;
  root.memory_64 = {.base = uint64_t{1} << 40, .size_bytes = 512 * kGiga};
  facts.roots.push_back(root);
}

void add_port(HostFacts& facts, const std::string& name, const std::string& parent, PortKind kind) {
  Function port;
  port.name = name;
  port.address = host::parse_pci_address(name);
  port.parent = parent;
  port.port = kind;
  port.is_bridge = true;
  const bool looks_down = kind != PortKind::switch_up && kind != PortKind::card_up;
  port.acs = host::Acs{.present = looks_down, .control = 0};
  port.prefetchable = {.base = uint64_t{1} << 40, .size_bytes = 256 * kGiga};
  facts.functions.push_back(port);
}

void add_card(HostFacts& facts, const std::string& name, const std::string& address,
              const std::string& parent) {
  Function function;
  function.name = address;
  function.address = host::parse_pci_address(address);
  function.id = host::PciId{0x1002, 0x744c};
  function.parent = parent;
  function.driver = "amdgpu";
  function.dma_mask_bits = 44;
  host::Bar vram;
  vram.size_bytes = 32 * kGiga;
  vram.base = (uint64_t{1} << 40) + facts.gpus.size() * 32 * kGiga;
  vram.prefetchable = true;
  vram.is_64_bit = true;
  host::Bar doorbells = vram;
  doorbells.index = 2;
  doorbells.size_bytes = 2 * kMega;
  function.bars = {vram, doorbells};
  facts.functions.push_back(function);

  host::Gpu gpu;
  gpu.name = name;
  gpu.function = address;
  gpu.model = "Radeon RX 7900 XTX";
  gpu.gfx = "gfx1100";
  gpu.vram_bytes = 24 * kGiga;
  gpu.vram_bar = 0;
  gpu.in_kfd = true;
  facts.gpus.push_back(gpu);
}

HostFacts bare_machine() {
  HostFacts facts;
  facts.machine.cpu = "Intel Xeon";
  facts.machine.cpu_vendor = "GenuineIntel";
  facts.machine.cpu_family = 6;
  facts.machine.num_sockets = 1;
  facts.machine.guest = false;
  facts.kernel.release = "6.12.4";
  facts.kernel.config = {{"CONFIG_PCI_P2PDMA", "y"}, {"CONFIG_HSA_AMD_P2P", "y"}};
  facts.iommu = host::IommuMode::off;
  facts.complete = true;
  return facts;
}

}  // namespace

HostFacts below_switch() {
  HostFacts facts = bare_machine();
  facts.machine.cpu = "Intel Xeon E5-2697A v4";
  add_root(facts, "0000:00", 0x6f00);
  add_port(facts, "0000:00:02.0", "0000:00", PortKind::root);
  add_port(facts, "up", "0000:00:02.0", PortKind::switch_up);
  add_port(facts, "leg-a", "up", PortKind::switch_down);
  add_port(facts, "leg-b", "up", PortKind::switch_down);
  add_card(facts, "A", "0000:05:00.0", "leg-a");
  add_card(facts, "B", "0000:06:00.0", "leg-b");
  host::sort_functions(facts);
  return facts;
}

HostFacts on_root_ports() {
  HostFacts facts = bare_machine();
  add_root(facts, "0000:00", 0x2f00);
  add_port(facts, "0000:00:02.0", "0000:00", PortKind::root);
  add_port(facts, "0000:00:03.0", "0000:00", PortKind::root);
  add_card(facts, "A", "0000:05:00.0", "0000:00:02.0");
  add_card(facts, "B", "0000:06:00.0", "0000:00:03.0");
  host::sort_functions(facts);
  return facts;
}

HostFacts on_two_sockets() {
  HostFacts facts = bare_machine();
  facts.machine.num_sockets = 2;
  add_root(facts, "0000:00", 0x2020);
  add_root(facts, "0000:80", 0x2020);
  facts.roots[1].memory_64.base = uint64_t{3} << 40;
  add_port(facts, "0000:00:02.0", "0000:00", PortKind::root);
  add_port(facts, "0000:80:02.0", "0000:80", PortKind::root);
  add_card(facts, "A", "0000:05:00.0", "0000:00:02.0");
  add_card(facts, "B", "0000:85:00.0", "0000:80:02.0");
  host::sort_functions(facts);
  return facts;
}

HostFacts nvidia_pair() {
  HostFacts facts = on_root_ports();
  facts.machine.cpu_vendor = "AuthenticAMD";
  facts.machine.cpu_family = 0x19;
  facts.roots[0].first.id = host::PciId{0x1022, 0x14b5};
  for (const std::string name : {"A", "B"}) {
    card(facts, name).id = host::PciId{0x10de, 0x2204};
    card(facts, name).driver = "nvidia";
    card(facts, name).bars[0].index = 1;
    card(facts, name).bars[1].index = 3;
    gpu(facts, name).model = "NVIDIA GeForce RTX 3090";
    gpu(facts, name).gfx.clear();
    gpu(facts, name).vram_bar = 1;
    gpu(facts, name).in_kfd.reset();
  }
  facts.observed.peers = {{"A", "B", true, "OK"}, {"B", "A", true, "OK"}};
  return facts;
}

Function& function(HostFacts& facts, const std::string& name) {
  const auto at = std::ranges::find(facts.functions, name, &Function::name);
  if (at == facts.functions.end()) std::abort();
  return *at;
}

host::Gpu& gpu(HostFacts& facts, const std::string& name) {
  const auto at = std::ranges::find(facts.gpus, name, &host::Gpu::name);
  if (at == facts.gpus.end()) std::abort();
  return *at;
}

Function& card(HostFacts& facts, const std::string& name) {
  return function(facts, gpu(facts, name).function);
}

host::Bar& vram_bar(HostFacts& facts, const std::string& name) { return card(facts, name).bars[0]; }

void set_redirect(HostFacts& facts, const std::string& port, uint16_t control) {
  function(facts, port).acs = host::Acs{.present = true, .control = control};
}

void set_link(Function& function, host::Link link) { function.link = link; }

const PairReport& pair_of(const Report& report) {
  for (const PairReport& pair : report.pairs) {
    if (pair.a == "A" && pair.b == "B") return pair;
  }
  std::abort();
}

const Finding* find_finding(const Report& report, const std::string& rule) {
  const auto at = std::ranges::find(report.findings, rule, &Finding::rule);
  return at == report.findings.end() ? nullptr : &*at;
}

bool decides(const Report& report, const std::string& rule) {
  const auto& rules = pair_of(report).rules;
  return std::ranges::find(rules, rule) != rules.end();
}

}  // namespace evener::doctor
