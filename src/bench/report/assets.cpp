#include "bench/report/assets.h"

#include <cstddef>

extern "C" {
extern const char evener_asset_report_css_begin[], evener_asset_report_css_end[];
extern const char evener_asset_report_js_begin[], evener_asset_report_js_end[];
extern const char evener_asset_uplot_css_begin[], evener_asset_uplot_css_end[];
extern const char evener_asset_uplot_js_begin[], evener_asset_uplot_js_end[];
extern const char evener_asset_uplot_licence_begin[], evener_asset_uplot_licence_end[];
}

namespace evener::bench::assets {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view report_css() {
  return between(evener_asset_report_css_begin, evener_asset_report_css_end);
}
std::string_view report_js() {
  return between(evener_asset_report_js_begin, evener_asset_report_js_end);
}
std::string_view uplot_css() {
  return between(evener_asset_uplot_css_begin, evener_asset_uplot_css_end);
}
std::string_view uplot_js() {
  return between(evener_asset_uplot_js_begin, evener_asset_uplot_js_end);
}
std::string_view uplot_licence() {
  return between(evener_asset_uplot_licence_begin, evener_asset_uplot_licence_end);
}

}  // namespace evener::bench::assets
