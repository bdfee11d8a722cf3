#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/mask.h"

namespace evener::host {

// Masks one line at a time, in one file after another.
class LineMasker {
 public:
  LineMasker(std::vector<std::string> host_names, MaskCounts& counts)
      : host_names_(std::move(host_names)), counts_(counts) {}

  // Hardware addresses, UUIDs, what stands behind "serial number" and the like.
  std::string mask_identifiers(std::string line);
  // And what only a log or a program's output may hold: IPv4 addresses, host name, home folders. In
  // other files the same looks are versions and names of products.
  std::string mask_free_text(std::string line);

 private:
  std::string mask_runs(std::string_view line, size_t digits, size_t num_groups_min);
  std::string mask_uuids(std::string_view line);
  std::string mask_interfaces(std::string_view line);
  void mask_labelled(std::string& line);
  std::string mask_ipv4(std::string_view line);
  void mask_host_names(std::string& line);
  std::string mask_homes(std::string_view line);
  void count(std::string_view kind);

  std::vector<std::string> host_names_;
  MaskCounts& counts_;
};

}  // namespace evener::host
