#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"

namespace evener {
namespace {

using namespace std::chrono_literals;

constexpr int kBarWidth = 30;
constexpr auto kRedrawInterval = 100ms;
constexpr auto kLogInterval = 2s;

}  // namespace

Progress::Progress(std::FILE* stream)
    : stream_(stream), is_terminal_(::isatty(::fileno(stream)) != 0), last_shown_(Clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& what, double fraction) {
  const Clock::time_point now = Clock::now();
  const bool is_new = what != last_what_;
  if (!is_new && now - last_shown_ < (is_terminal_ ? Clock::duration(kRedrawInterval)
                                                   : Clock::duration(kLogInterval)))
    return;
  if (is_new && !is_terminal_) {  // quick work is done before it is worth a line
    last_what_ = what;
    return;
  }
  last_what_ = what;
  last_shown_ = now;
  const double share = std::clamp(fraction, 0.0, 1.0);
  if (!is_terminal_) {
    log::info("{} {:.0f} %", what, 100 * share);
    return;
  }
  const int filled = static_cast<int>(share * kBarWidth);
  fmt::print(stream_, "\r\x1b[K{} [{:#<{}}{:.<{}}] {:3.0f} %", what, "", filled, "",
             kBarWidth - filled, 100 * share);
  std::fflush(stream_);
  bar_visible_ = true;
}

void Progress::clear() {
  if (!bar_visible_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  bar_visible_ = false;
}

}  // namespace evener
