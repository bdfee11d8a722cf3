#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace evener::chat::jinja {

// Python's strftime in English and UTC: %Y %y %m %d %e %b %B %a %A %j %H %I %M %S %f %p %w %u %F %T
// %D %R %c %x %X %Z %z %s %n %t %%, and %-d and its like without leading zero. An unknown directive
// stays as it is.
std::string format_time(std::string_view format, std::chrono::sys_seconds time);

}  // namespace evener::chat::jinja
