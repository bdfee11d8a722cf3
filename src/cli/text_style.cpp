#include "cli/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace evener::cli {
namespace {

constexpr size_t kWidthMax = 110;  // longer lines are hard to read

size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return std::min<size_t>(size.ws_col, kWidthMax);
}

// As the C library would decide: the first of the three that is set.
bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment(name);
    if (value.empty()) continue;
    for (const std::string_view mark : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(mark) != std::string::npos) return true;
    }
    return false;
  }
  return false;
}

}  // namespace

doctor::TextStyle output_style(bool no_colour) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const bool may_colour =
      !no_colour && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.width = is_terminal ? terminal_width() : 0,
          .colour = is_terminal && may_colour,
          .ascii = !is_utf8_locale()};
}

}  // namespace evener::cli
