#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace evener::doctor {

// A release of Linux: 7.0.14. A candidate (7.4-rc2) counts as the release it is to become.
struct Release {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;

  auto operator<=>(const Release&) const = default;
};

std::string to_string(Release release);  // "7.4", "7.0.14"

// What `uname -r` prints: the release it was made from, and what its maker added.
struct KernelName {
  Release release;
  std::string suffix;  // "-101-generic"; empty, or "-rc2", for kernels as upstream names them

  bool is_upstream() const { return suffix.empty() || suffix.starts_with("-rc"); }
  // 7.0.x, which adds the windows of siblings without the room that their alignment takes.
  bool adds_windows_without_gaps() const { return release.major == 7 && release.minor == 0; }
};

std::optional<KernelName> parse_kernel_name(std::string_view text);

}  // namespace evener::doctor
