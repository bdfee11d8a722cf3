#pragma once

#include <string>
#include <string_view>

#include "doctor/report.h"
#include "doctor/text_page.h"
#include "host/facts.h"

// The sections of to_text(), each in a file of its own. Each adds its title and content, or
// nothing.

namespace evener::doctor {

void add_machine(const host::HostFacts& facts, TextPage& page);
void add_tree(const host::HostFacts& facts, TextPage& page);
void add_pairs(const host::HostFacts& facts, const Report& report, TextPage& page);
void add_findings(const Report& report, TextPage& page);
void add_fixes(const Report& report, TextPage& page);
void add_advice(const Report& report, TextPage& page);
void add_power(const Report& report, TextPage& page);
void add_kernel_help(const Report& report, TextPage& page);
void add_unknown(const host::HostFacts& facts, TextPage& page);

// Of a card or a port, cut where nobody would read on.
std::string short_name(std::string_view name);
Tone tone_of(const PairReport& pair);
Tone tone_of(Risk risk);
// "off", "pass-through (identity)", "translated".
std::string_view words_of(host::IommuMode mode);

}  // namespace evener::doctor
