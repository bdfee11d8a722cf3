#include "doctor/sample_machine.h"

#include <string>
#include <utility>

namespace evener::doctor {
namespace {

using host::Function;
using host::PortKind;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

Function named(const char* name, const char* parent) {
  Function function;
  function.name = name;
  function.address = host::parse_pci_address(name);
  function.parent = parent;
  return function;
}

Function port(const char* name, const char* parent, PortKind kind) {
  Function function = named(name, parent);
  function.is_bridge = true;
  function.port = kind;
  return function;
}

Function card(const char* name, const char* parent, uint64_t bar_bytes, uint64_t bar_base) {
  Function function = named(name, parent);
  function.bars.push_back({.index = 0,
                           .size_bytes = bar_bytes,
                           .base = bar_base,
                           .prefetchable = true,
                           .is_64_bit = true,
                           .resizable = {}});
  function.driver = "amdgpu";
  function.link =
      host::Link{.max_gts = 16, .max_width = 16, .now_gts = 16, .now_width = 16, .under_load = {}};
  return function;
}

host::Gpu gpu(const char* name, const char* function, const char* model, uint64_t vram_bytes) {
  host::Gpu gpu;
  gpu.name = name;
  gpu.function = function;
  gpu.model = model;
  gpu.vram_bytes = vram_bytes;
  gpu.vram_bar = 0;
  return gpu;
}

void add_first_socket(host::HostFacts& facts) {
  host::RootBus root;
  root.bus = "0000:00";
  root.first.id = host::PciId{.vendor = 0x8086, .device = 0x6f00};
  root.numa_node = 0;
  root.memory_64 = {.base = 0x380000000000, .size_bytes = 256 * kGiB};
  facts.roots.push_back(root);
  Function above = port("0000:00:02.0", "0000:00", PortKind::root);
  above.slot = "2";
  above.link =
      host::Link{.max_gts = 8, .max_width = 16, .now_gts = 2.5, .now_width = 16, .under_load = {}};
  facts.functions.push_back(above);
  facts.functions.push_back(card("0000:05:00.0", "0000:00:02.0", 32 * kGiB, 0x380000000000));
  facts.functions.back().link->now_gts = 2.5;
  facts.functions.push_back(named("0000:05:00.1", "0000:00:02.0"));
  facts.gpus.push_back(gpu("R1", "0000:05:00.0", "Radeon AI PRO R9700", 32624 * kMiB));
}

void add_second_socket(host::HostFacts& facts) {
  host::RootBus root;
  root.bus = "0000:a0";
  root.numa_node = 1;
  facts.roots.push_back(root);
  Function above = port("0000:a0:02.0", "0000:a0", PortKind::root);
  above.prefetchable.size_bytes = 770 * kMiB;
  facts.functions.push_back(above);
  Function up = port("0000:a1:00.0", "0000:a0:02.0", PortKind::switch_up);
  up.description = "PEX 8796 switch";
  facts.functions.push_back(up);
  Function leg = port("0000:a2:04.0", "0000:a1:00.0", PortKind::switch_down);
  leg.acs = host::Acs{.present = true, .control = 0x1d};
  facts.functions.push_back(leg);
  facts.functions.push_back(port("0000:a2:08.0", "0000:a1:00.0", PortKind::switch_down));
  facts.functions.push_back(port("0000:a2:0c.0", "0000:a1:00.0", PortKind::switch_down));
  facts.functions.push_back(card("0000:a3:00.0", "0000:a2:04.0", 256 * kMiB, 0xc0000000));
  facts.functions.push_back(card("0000:a5:00.0", "0000:a2:08.0", 256 * kMiB, 0xd0000000));
  Function drive = named("0000:a7:00.0", "0000:a2:0c.0");
  drive.description = "NVMe drive";
  facts.functions.push_back(drive);
  facts.gpus.push_back(gpu("X1", "0000:a3:00.0", "Radeon RX 7900 XTX", 24560 * kMiB));
  facts.gpus.push_back(gpu("X2", "0000:a5:00.0", "Radeon RX 7900 XTX", 24560 * kMiB));
}

Finding small_bars() {
  Finding finding;
  finding.rule = "R34";
  finding.severity = Finding::Severity::problem;
  finding.title = "the window inside the switch is too short";
  finding.evidence = {"window 770 MiB, needed 64 GiB", "each card pins it for the other"};
  finding.says = {"Look at kernel 7.0 first."};
  finding.fixes = {"F09", "F24"};
  finding.pairs = {"X1-X2"};
  return finding;
}

Finding passed() {
  Finding finding;
  finding.rule = "R38";
  finding.severity = Finding::Severity::pass;
  finding.title = "the BAR shows all of the memory";
  finding.gpus = {"R1"};
  return finding;
}

PairReport pair(const char* a, const char* b, Verdict verdict, Route route,
                std::vector<std::string> rules, const char* because) {
  PairReport result;
  result.a = a;
  result.b = b;
  result.verdict = verdict;
  result.route = route;
  result.rules = std::move(rules);
  result.because = because;
  return result;
}

}  // namespace

host::HostFacts sample_machine() {
  host::HostFacts facts;
  facts.machine.board = "Dell Precision Tower 7910";
  facts.machine.bios = "A34";
  facts.machine.cpu = "2x Intel Xeon E5-2683 v4";
  facts.machine.num_sockets = 2;
  facts.kernel.release = "7.0.14";
  facts.iommu = host::IommuMode::identity;
  add_first_socket(facts);
  add_second_socket(facts);
  facts.missing.push_back({.what = "BIOS settings", .why = "no tool reads them", .remedy = {}});
  return facts;
}

Report sample_report() {
  Report report;
  report.summary = "Two of three pairs are blocked.";
  const char* policy = "different host bridges";
  report.pairs = {
      pair("R1", "X1", Verdict::blocked, Route::cross_host, {"R58"}, policy),
      pair("R1", "X2", Verdict::blocked, Route::cross_host, {"R58"}, policy),
      pair("X1", "X2", Verdict::works, Route::same_switch, {"R50", "R80"}, ""),
  };
  report.pairs[2].raw_gb_per_s = 31.508;
  report.findings = {small_bars(), passed()};
  report.bars = {
      {.gpu = "X1", .now_bytes = 256 * kMiB, .need_bytes = 24560 * kMiB, .max_bytes = {}}};
  report.bottleneck = Hop{
      .port = "0000:00:02.0", .gts = 8, .width = 16, .raw_gb_per_s = 15.754, .idle_reading = true};
  report.links = {{.gpu = "R1", .hops = {*report.bottleneck}}};
  report.fixes = {"F09", "F24"};
  report.advice = {{.mode = "layer split",
                    .gpus = {"R1", "X1"},
                    .arithmetic = {"31.9 + 24.0 GiB hold the model"},
                    .why = "no pair is fast enough"}};
  report.power = {.cards_watts = 1010, .system_watts = 1500, .arithmetic = {"cards: 1010 W"}};
  report.kernel_help = {"--- a/drivers/pci/p2pdma.c", "+\t{PCI_VENDOR_ID_INTEL, 0x6f00},"};
  return report;
}

}  // namespace evener::doctor
