#pragma once

#include <chrono>
#include <deque>

#include "chat/jinja/budget.h"
#include "chat/jinja/value.h"

namespace evener::chat::jinja {

// What filters, tests, methods and functions share during one rendering.
struct Context {
  Budget& budget;
  std::chrono::sys_seconds now;      // for strftime_now
  std::deque<Namespace> namespaces;  // all that were made; they may hold each other
};

}  // namespace evener::chat::jinja
