#pragma once

#include "bench/run.h"

namespace evener::bench {

// A run as a store would give it, with every experiment, three rounds of most, a void and a partial
// cell, failed requests, two cards and findings of each severity. The same each time.
Run sample_run();

// Every name and text that comes from outside tries to be something else: HTML, Markdown, terminal
// commands, broken UTF-8, the end of a script.
Run hostile_run();

}  // namespace evener::bench
