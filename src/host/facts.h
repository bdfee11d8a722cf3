#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "host/pci_address.h"

// What a machine is, as far as it is known. An empty optional, an empty name or an empty list with
// `complete` false means "not known", never "no" and never a default. Sizes are bytes, link speeds
// GT/s as the standard writes them (2.5, 5, 8, 16, 32, 64).
//
// The same structure comes from the live machine, from a snapshot, from pasted text and from
// facts.json; the rules of src/doctor see nothing else.
// Source: reference/host/snapshot-format.md, sections 3 and 4.

namespace evener::host {

enum class IommuMode { off, identity, translated };

struct NumaNode {
  unsigned node = 0;
  std::string cpus;                 // "0-13,28-41"
  std::vector<unsigned> distances;  // to each node, 10 to itself
};

struct Machine {
  std::string board;
  std::string bios;
  std::string cpu;
  std::string cpu_vendor;  // "GenuineIntel", "AuthenticAMD", as cpuid says it
  std::optional<unsigned> cpu_family;
  std::optional<unsigned> cpu_model;
  std::optional<unsigned> num_sockets;
  std::optional<unsigned> physical_address_bits;
  std::optional<bool> guest;  // of a hypervisor
  std::vector<NumaNode> numa_nodes = {};
};

struct Setting {
  std::string name;   // "CONFIG_PCI_P2PDMA", "amdgpu.pcie_p2p"
  std::string value;  // "y", "n", "m", "1"; "n" for "is not set"
};

struct Kernel {
  std::string release;
  std::vector<Setting> config;
  std::vector<Setting> module_parameters;
  std::optional<std::string> command_line;   // options that matter; joined by spaces
  std::vector<std::string> unknown_options;  // the kernel's own "Unknown option" lines
  std::vector<std::string> patches;          // known to be in this kernel beyond its release
};

// A range of addresses. `size_bytes` 0 means known to be absent (switched off).
struct Window {
  std::optional<uint64_t> base;
  std::optional<uint64_t> size_bytes;
};

// A host bridge's bus and what the firmware gave it (ACPI _CRS).
struct RootBus {
  std::string bus;  // "0000:00"
  // The lowest function on it: what the kernel's allow list is asked about.
  struct First {
    std::string name;  // its address, if known
    std::optional<PciId> id;
    std::optional<bool> is_root_port;
  } first;
  std::optional<int> numa_node;
  Window memory_64;                  // the window that starts above 4 GiB; size 0: there is none
  std::vector<Window> memory_below;  // windows below 4 GiB
};

enum class PortKind { root, switch_up, switch_down, card_up, card_down };

// ACS control of a port; `present` false: the port has no such capability.
struct Acs {
  bool present = false;
  uint16_t control = 0;  // the register's bits

  bool request_redirect() const { return (control & 0x04) != 0; }
  bool completion_redirect() const { return (control & 0x08) != 0; }
  bool egress_control() const { return (control & 0x20) != 0; }
  // What the kernel's peer-to-peer test looks at: pci-p2p.md, 1.1.
  bool redirects() const { return present && (control & 0x2c) != 0; }
};

struct Link {
  std::optional<double> max_gts;
  std::optional<unsigned> max_width;
  std::optional<double> now_gts;
  std::optional<unsigned> now_width;
  std::optional<bool> under_load;  // was `now` read while a copy ran?
};

struct Bar {
  unsigned index = 0;                  // 0..5
  std::optional<uint64_t> size_bytes;  // 0: known to have no address or no size (lost)
  std::optional<uint64_t> base;
  std::optional<bool> prefetchable;
  std::optional<bool> is_64_bit;
  std::optional<std::vector<uint64_t>> resizable;  // sizes that its ReBAR capability offers
};

struct Atomics {
  std::optional<bool> routing;
  std::optional<bool> completer_32;
  std::optional<bool> completer_64;
  std::optional<bool> requester_enabled;
};

// One function of the PCI tree.
struct Function {
  std::string
      name;  // its address in full, or a label where a report gave none: never evidence then
  std::optional<PciAddress> address;
  std::optional<PciId> id;
  std::optional<PciId> subsystem;
  std::optional<uint32_t> class_code;  // 24 bits: 0x060400 is a bridge, 0x030000 a display
  std::string description;             // as lspci names it
  std::string parent;            // `name` of the port above, or of the root bus; empty: unknown
  std::optional<PortKind> port;  // of a bridge; empty for endpoints and where unknown
  bool is_bridge = false;
  std::string slot;       // the board's label
  std::vector<Bar> bars;  // those with memory
  Window prefetchable;    // of a bridge, what lies behind it
  Window memory;          // the same, not prefetchable
  std::optional<Acs> acs;
  std::optional<Link> link;
  std::optional<Atomics> atomics;
  std::optional<unsigned> iommu_group;
  std::optional<IommuMode> iommu;
  std::optional<int> numa_node;
  std::optional<std::string> driver;  // empty text: known to have none
  std::optional<unsigned> dma_mask_bits;
  std::optional<bool> suspended;  // in D3: links read then mean nothing
  std::optional<uint64_t> aer_correctable;
};

struct Gpu {
  std::string name;  // how a report speaks of it: "A"; made up in order of address if it has none
  std::string function;  // Function::name
  std::string model;
  std::string gfx;  // "gfx1100"; empty: unknown or not AMD
  std::optional<uint64_t> vram_bytes;
  std::optional<uint64_t> visible_vram_bytes;
  std::optional<unsigned> vram_bar;  // which of its BARs shows the VRAM
  std::optional<bool> in_kfd;
  std::optional<double> power_limit_watts;
};

struct PeerObservation {
  std::string from;
  std::string to;
  bool allowed = false;
  std::string reason = {};  // the tool's own word: "CNS", "GNS", "TNS"; empty: it gave none
};

// What somebody measured or saw, as opposed to what the machine says of itself.
struct Observed {
  std::vector<PeerObservation> peers;
  struct Rate {
    std::string what;  // "h2d_gbs", "peer_copy_gbs"
    std::string of;    // "A", "X1-X2"; empty: not said
    double gb_per_s = 0;
  };
  std::vector<Rate> rates;
  std::string data_check;  // "pass", "fail", "none"; empty: not said
  std::string stability;
  json::Value other;  // whatever else the report holds, an object
};

// A fact that could not be read, for the question that follows.
struct Missing {
  std::string what;    // "ACS control of 0000:00:02.0"
  std::string why;     // "lspci.txt stops at 64 bytes"
  std::string remedy;  // "capture again as root"
};

struct HostFacts {
  Machine machine;
  Kernel kernel;
  std::optional<IommuMode> iommu;  // of the machine; a function may say otherwise
  std::vector<RootBus> roots;
  std::vector<Function> functions;  // as sort_functions leaves them
  std::vector<Gpu> gpus;
  std::vector<std::string> log;  // kernel lines that matter, as printed
  Observed observed;
  std::vector<std::string> placeholders;  // paths of values that were made up as labels
  std::vector<Missing> missing;
  std::vector<std::string> contradictions;  // two sources disagree; which was believed
  bool complete = false;
};

// By address, those without one last by name: lookups are fast then, and correct in any order.
void sort_functions(HostFacts& facts);

// Gives cards without a name one that is free: "A" to "Z" in order of the list, then "A1" ...
void name_nameless_gpus(HostFacts& facts);

// Lookups; null where there is none. Trees from outside may have cycles and unknown parents: walk
// with ancestors().
const Function* find_function(const HostFacts& facts, const std::string& name);
const RootBus* find_root(const HostFacts& facts, const std::string& bus);
const Gpu* find_gpu(const HostFacts& facts, const std::string& name);

// The ports above `name`, the nearest first; ends at a root bus, an unknown parent or a repetition.
struct Ancestors {
  std::vector<const Function*> ports;
  const RootBus* root = nullptr;  // null: the way up is not known to its end
};
Ancestors ancestors(const HostFacts& facts, const std::string& name);

}  // namespace evener::host
