#pragma once

#include <string>
#include <vector>

#include "bench/report/charts.h"
#include "bench/report/document.h"

namespace evener::bench {

// What is between <body> and the scripts.
std::string html_body(const Document& document, const std::vector<Chart>& charts);

std::string html_table(const Table& table);

}  // namespace evener::bench
