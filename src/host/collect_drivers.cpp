// What the GPUs' drivers say: KFD's topology, module parameters, the vendors' own programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/capture.h"
#include "host/run_program.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr std::array<const char*, 15> kModuleFiles = {
    "sys/module/amdgpu/parameters/pcie_p2p",
    "sys/module/amdgpu/parameters/rebar",
    "sys/module/amdgpu/parameters/vis_vramlimit",
    "sys/module/amdgpu/parameters/runpm",
    "sys/module/amdgpu/parameters/aspm",
    "sys/module/amdgpu/parameters/pcie_gen_cap",
    "sys/module/amdgpu/version",
    "sys/module/nvidia/version",
    "sys/module/nvidia_drm/parameters/modeset",
    "sys/module/pcie_aspm/parameters/policy",
    "sys/module/vfio_pci/parameters/ids",
    "sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
    "sys/module/xe/version",
    "proc/driver/nvidia/version",
    "proc/driver/nvidia/params"};

constexpr std::array<const char*, 3> kKfdFolders = {"mem_banks", "io_links", "p2p_links"};
const std::string kKfdNodes = "sys/class/kfd/kfd/topology/nodes";

// One line "name<TAB>line" for each line of a file.
void add_lines(std::string& out, const FileTree& tree, const std::string& path,
               const std::string& name) {
  const auto text = tree.read(path, 65536);
  if (!text) return;
  each_line(*text, [&](std::string_view line) {
    const bool tells_card_from_card = line.starts_with("unique_id");
    if (!tells_card_from_card) out += fmt::format("{}\t{}\n", name, line);
  });
}

void add_node(std::string& out, const FileTree& tree, const std::string& node) {
  const std::string path = kKfdNodes + "/" + node;
  for (const char* file : {"gpu_id", "name", "properties"})
    add_lines(out, tree, path + "/" + file, node + "/" + file);
  for (const char* folder : kKfdFolders) {
    for (const std::string& entry : tree.list(path + "/" + folder)) {
      const std::string file = fmt::format("{}/{}/properties", folder, entry);
      add_lines(out, tree, path + "/" + file, node + "/" + file);
    }
  }
}

struct Tool {
  const char* file;
  const char* program;
  std::vector<std::string> arguments;
};

std::vector<Tool> nvidia_tools() {
  return {
      {"tools/nvidia-topo-m.txt", "nvidia-smi", {"topo", "-m"}},
      {"tools/nvidia-p2p-r.txt", "nvidia-smi", {"topo", "-p2p", "r"}},
      {"tools/nvidia-p2p-w.txt", "nvidia-smi", {"topo", "-p2p", "w"}},
      {"tools/nvidia-smi-query.csv",
       "nvidia-smi",
       {"--query-gpu=pci.bus_id,name,memory.total,power.limit,driver_version",
        "--format=csv,noheader,nounits"}},
  };
}

std::vector<Tool> amd_tools() { return {{"tools/rocm-smi-topo.txt", "rocm-smi", {"--showtopo"}}}; }

// Some GPU of this vendor sleeps and would be woken by its program.
bool one_sleeps(const Capture& capture, std::string_view vendor) {
  return std::ranges::any_of(capture.functions, [&](const std::string& function) {
    const std::string path = function_path(function);
    return capture.tree.read_line(path + "/vendor") == vendor && is_gpu(capture.tree, function) &&
           is_asleep(capture.tree, function);
  });
}

void run_tools(Capture& capture, std::string_view vendor, const std::vector<Tool>& tools) {
  if (one_sleeps(capture, vendor)) {
    capture.miss(fmt::format("what {} says", tools.front().program),
                 "a GPU sleeps, and the program would wake it",
                 "capture again while the GPUs work");
    return;
  }
  for (const Tool& tool : tools) {
    const auto path = find_program(tool.program);
    if (!path) return;
    const auto output = run_program(*path, tool.arguments, {});
    if (output) {
      capture.add(tool.file, *output);
    } else {
      capture.miss(fmt::format("what {} {} says", tool.program, tool.arguments.front()),
                   output.error().why, "run it by hand and see what it says");
    }
  }
}

}  // namespace

void collect_kfd(Capture& capture) {
  std::string text;
  for (const std::string& node : capture.tree.list(kKfdNodes)) add_node(text, capture.tree, node);
  capture.add("kfd.tsv", text);
}

void collect_modules(Capture& capture) {
  std::string text;
  for (const std::string path : kModuleFiles) add_lines(text, capture.tree, path, "/" + path);
  const std::string gpus = "proc/driver/nvidia/gpus";
  for (const std::string& gpu : capture.tree.list(gpus)) {
    const std::string path = fmt::format("{}/{}/information", gpus, gpu);
    add_lines(text, capture.tree, path, "/" + path);
  }
  capture.add("mod.tsv", text);
}

// Only where the driver is there already: some of these programs would load it.
void collect_tools(Capture& capture) {
  if (!capture.tree.is_live()) return;
  if (capture.tree.exists("proc/driver/nvidia/version"))
    run_tools(capture, "0x10de", nvidia_tools());
  if (capture.tree.exists(kKfdNodes)) run_tools(capture, "0x1002", amd_tools());
}

}  // namespace evener::host
