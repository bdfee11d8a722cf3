#pragma once

#include <string_view>

#include "host/seen.h"

namespace evener::host {

// Reads the lines below a function's first, one after the other.
class LspciDetails {
 public:
  explicit LspciDetails(Seen& seen) : seen_(&seen) {}

  void read(std::string_view line);
  void finish();  // what follows from all lines

 private:
  void read_region(std::string_view line);
  void read_capability(std::string_view line);
  void read_link(std::string_view line);
  void read_flags(std::string_view line);
  bool read_bridge(std::string_view line);
  bool read_identity(std::string_view line);
  bool read_express(std::string_view line);
  void read_resizable(std::string_view line);

  Seen* seen_;
  std::string_view capability_;  // the one whose lines these are
  unsigned next_region_ = 0;     // where lspci -v leaves out the number
  bool has_extended_ = false;
};

}  // namespace evener::host
