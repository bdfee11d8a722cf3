#pragma once

#include "doctor/text_page.h"

namespace evener::cli {

// How text on standard output is to look: colours and lines broken at the width only on a terminal,
// no colours with `no_colour`, with NO_COLOR in the environment or on a dumb terminal, no drawing
// characters where the locale is not UTF-8.
doctor::TextStyle output_style(bool no_colour);

}  // namespace evener::cli
