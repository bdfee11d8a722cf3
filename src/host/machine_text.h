#pragma once

#include <string_view>
#include <vector>

#include "host/facts.h"

// The small files of a snapshot, about the machine as a whole.

namespace evener::host {

// cpu.txt, /proc/cpuinfo or what lscpu prints.
void read_cpu(std::string_view text, Machine& machine);
bool is_cpu_line(std::string_view line);

// dmi.txt: "board_name<TAB>X99-TF".
void read_dmi(std::string_view text, Machine& machine);

// "CONFIG_PCI_P2PDMA=y", "# CONFIG_HSA_AMD_P2P is not set". With `is_whole` what the kernel's build
// leaves out because nothing asked for it counts as "n".
std::vector<Setting> read_kernel_config(std::string_view text, bool is_whole);
bool is_config_line(std::string_view line);

// One option a line, or the whole line as /proc/cmdline has it; what names a disk is left out.
std::string read_command_line(std::string_view text);
bool is_command_line(std::string_view line);

// mod.tsv: "/sys/module/amdgpu/parameters/pcie_p2p<TAB>Y" is amdgpu.pcie_p2p = y.
std::vector<Setting> read_modules(std::string_view text);

// numa.tsv: "node0<TAB>0-13,28-41<TAB>10 21".
std::vector<NumaNode> read_nodes(std::string_view text);

// MANIFEST: "kernel=6.8.0-45-generic"; empty if it does not say.
std::string_view manifest_value(std::string_view text, std::string_view key);

}  // namespace evener::host
