#pragma once

#include <string_view>

// Files of web/ that a page carries; they are part of the program.

namespace evener::bench::assets {

std::string_view report_css();
std::string_view report_js();
std::string_view uplot_css();
std::string_view uplot_js();
std::string_view uplot_licence();

}  // namespace evener::bench::assets
