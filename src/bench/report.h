#pragma once

#include <cstdint>
#include <string>

#include "bench/run.h"

namespace evener::bench {

enum class Language : uint8_t { english, chinese };

// All of them work out every figure from the run's records again.
// Source: reference/serving/bench.md, 8.

// For a terminal of `width` columns (at least 40 are used), with sparklines.
struct TerminalStyle {
  unsigned width = 100;
  bool colour = true;
  bool ascii = false;  // sparklines and rules without characters that need UTF-8
};
std::string report_text(const Run& run, Language language, const TerminalStyle& style);

// For forums: tables and the caliber, no HTML.
std::string report_markdown(const Run& run, Language language);

// One file with all it needs inside; loads nothing from anywhere.
std::string report_html(const Run& run, Language language);

// Every figure under stable keys; the machine-readable appendix, also inside the HTML file.
std::string report_json(const Run& run);

}  // namespace evener::bench
