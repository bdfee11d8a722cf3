#pragma once

#include <string>

namespace evener::host {

// Text as the parsers of this folder want it: UTF-8 with LF at line ends, without a byte order mark
// or a terminal's colours; UTF-16 with a byte order mark (what some shells write into files) is
// converted. A byte that is no text becomes '?'. Linear; never longer than three times `bytes`.
std::string plain_text(std::string bytes);

}  // namespace evener::host
