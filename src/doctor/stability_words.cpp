#include "doctor/stability_words.h"

#include <algorithm>
#include <array>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr std::array kTrouble = {"hang",   "hung",  "deadlock", "freez", "froze",
                                 "stalls", "reset", "reboots",  "crash", "lockup"};
constexpr std::array kDenials = {"no hang", "without hang", "never h", "no crash", "no reset"};

}  // namespace

bool tells_of_hangs(std::string_view stability) {
  const auto says = [&](const char* word) { return mentions(stability, word); };
  return std::ranges::any_of(kTrouble, says) && std::ranges::none_of(kDenials, says);
}

}  // namespace evener::doctor
