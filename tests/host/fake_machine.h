#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"

namespace evener::host {

// A folder with a made-up sys, proc, boot and dev: an old workstation with two cards, one asleep.
class FakeMachine {
 public:
  FakeMachine();

  const std::filesystem::path& root() const { return folder_.path(); }
  void write(const std::string& path, std::string_view text);
  void remove(const std::string& path);
  void link(const std::string& path, const std::string& target);
  // Adds fields of a function below its path, "pci0000:00/0000:00:02.0/0000:03:00.0".
  void add_function(const std::string& way, const std::string& id, const std::string& class_code);
  static std::string device(const std::string& function) {
    return "sys/bus/pci/devices/" + function;
  }

 private:
  void write_system();
  void write_functions();
  void write_drivers();

  TemporaryFolder folder_;
};

// Config space byte by byte.
class ConfigSpace {
 public:
  explicit ConfigSpace(size_t num_bytes = 4096) : bytes_(num_bytes, '\0') {}

  ConfigSpace& set(size_t offset, uint32_t value, size_t num_bytes);
  // A capability with four bytes of data, and the last one of the list.
  ConfigSpace& vital_product_data(size_t at, uint32_t data);
  // An extended capability at 0x100 that leads to a device serial number at `at`.
  ConfigSpace& device_serial(size_t at, uint64_t number);
  const std::string& bytes() const { return bytes_; }
  // As lspci -xxxx prints it.
  std::string hex() const;

 private:
  std::string bytes_;
};

}  // namespace evener::host
