#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.h"
#include "host/file_tree.h"

// What the collectors share: each reads its part of a machine and adds a file of the snapshot.

namespace evener::host {

struct Capture {
  const FileTree& tree;
  std::vector<std::string> functions;  // names below sys/bus/pci/devices
  std::string kernel_release;
  std::map<std::string, std::string, std::less<>> files;
  std::vector<Missing> unread;

  void add(std::string name, std::string text) {
    if (!text.empty()) files.insert_or_assign(std::move(name), std::move(text));
  }
  // The file's text; without it, notes that it is missing.
  std::optional<std::string> read(const std::string& path, std::string what, std::string remedy) {
    auto text = tree.read(path);
    if (!text) miss(std::move(what), tree.why_unread(path), std::move(remedy));
    return text;
  }
  void miss(std::string what, std::string why, std::string remedy) {
    unread.push_back({std::move(what), std::move(why), std::move(remedy)});
  }
};

inline std::string function_path(const std::string& function) {
  return "sys/bus/pci/devices/" + function;
}

// In D3, or on the way there: reading its registers would wake it.
bool is_asleep(const FileTree& tree, const std::string& function);

// Of a class that a diagnosis turns on: a display, an accelerator or a bridge.
bool is_gpu_or_bridge(const FileTree& tree, const std::string& function);
bool is_gpu(const FileTree& tree, const std::string& function);

void collect_manifest(Capture& capture);       // MANIFEST
void collect_command_line(Capture& capture);   // cmdline.txt
void collect_kernel_config(Capture& capture);  // kconfig.txt
void collect_cpu(Capture& capture);            // cpu.txt
void collect_board(Capture& capture);          // dmi.txt
void collect_address_map(Capture& capture);    // iomem.txt
void collect_kernel_log(Capture& capture);     // dmesg.txt
void collect_config_space(Capture& capture);   // lspci.txt
void collect_sysfs(Capture& capture);          // sysfs.tsv
void collect_kfd(Capture& capture);            // kfd.tsv
void collect_modules(Capture& capture);        // mod.tsv
void collect_numa(Capture& capture);           // numa.tsv
void collect_tools(Capture& capture);          // tools/*

// load/sysfs.tsv: current speed and width of every link.
class LoadSamples {
 public:
  void take(const Capture& capture);
  void add_to(Capture& capture) const;

 private:
  struct Reading {
    std::string speed;
    std::string width;
    double rate = 0;  // of both, to find the fastest
  };
  std::map<std::string, Reading, std::less<>> fastest_;
};

}  // namespace evener::host
