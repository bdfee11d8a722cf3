// The page: all text and tables in both languages, the figures as JSON, and a script that draws.
#include "bench/report.h"
#include "bench/report/assets.h"
#include "bench/report/charts.h"
#include "bench/report/document.h"
#include "bench/report/html_sections.h"
#include "bench/report/html_text.h"
#include "bench/report/json_text.h"

namespace evener::bench {
namespace {

// Nothing may be loaded, whatever got into the page.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

std::string head(const Document& document, Language language) {
  std::string out = "<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(kPolicy) + "\">\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  out += "<title>" + html_escaped(document.title.in(language)) + "</title>\n";
  out += "<style>\n" + std::string(assets::uplot_css()) + "\n" + std::string(assets::report_css()) +
         "</style>\n";
  return out;
}

std::string json_element(std::string_view id, const std::string& json) {
  return "<script type=\"application/json\" id=\"" + std::string(id) + "\">\n" + json +
         "\n</script>\n";
}

std::string scripts(const std::string& appendix, const std::vector<Chart>& all) {
  return json_element("appendix", appendix) +
         json_element("charts", json_text(charts_json(all), JsonLayout::compact)) +
         "<script>\n/*\n" + std::string(assets::uplot_licence()) + "*/\n" +
         std::string(assets::uplot_js()) + "\n</script>\n<script>\n" +
         std::string(assets::report_js()) + "</script>\n";
}

}  // namespace

std::string report_html(const Run& run, Language language) {
  const Analysis analysis(run);
  const Document document = document_of(analysis);
  const std::vector<Chart> all = charts(analysis);
  const std::string_view tag = language == Language::chinese ? "zh-Hans" : "en";
  const std::string_view name = language == Language::chinese ? "zh" : "en";
  return "<!doctype html>\n<html lang=\"" + std::string(tag) + "\" data-language=\"" +
         std::string(name) + "\">\n<head>\n" + head(document, language) + "</head>\n<body>\n" +
         html_body(document, all) + scripts(report_json(run), all) + "</body>\n</html>\n";
}

}  // namespace evener::bench
