#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"
#include "host/file_tree.h"

namespace evener::telemetry {

// A folder with a made-up sys and proc.
class FakeTree {
 public:
  const std::filesystem::path& root() const { return folder_.path(); }
  host::FileTree files() const { return host::FileTree(root()); }

  void write(const std::string& path, std::string_view text) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root() / path); }
  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::filesystem::create_symlink(target, root() / path);
  }

  // A PCI function below `way`, "pci0000:00/0000:00:01.0/0000:03:00.0"; its folder.
  std::string add_function(const std::string& way, const std::string& vendor,
                           const std::string& class_code) {
    const std::string name = way.substr(way.rfind('/') + 1);
    std::string path = "sys/bus/pci/devices/" + name;
    std::filesystem::create_directories(root() / "sys/devices" / way);
    link(path, "../../../devices/" + way);
    write(path + "/vendor", vendor + "\n");
    write(path + "/device", "0x744c\n");
    write(path + "/class", class_code + "\n");
    return path;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace evener::telemetry
