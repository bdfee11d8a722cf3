#include "doctor/boards.h"

#include <algorithm>
#include <array>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

// Huananzhi's X99 boards, as its customer service lists them.
constexpr std::array kX99 = {"4MF", "4MT", "8D3", "8D4", "AD3", "AD4", "BD3", "BD4", "F8D",
                             "T8D", "M-F", "M-T", "P4T", "P4F", "PD3", "PD4", "T8",  "ARGB TF"};

}  // namespace

bool has_rebar_option(std::string_view board) {
  if (!mentions(board, "huanan")) return false;
  return std::ranges::any_of(kX99, [&](const char* name) { return mentions(board, name); });
}

}  // namespace evener::doctor
