#pragma once

#include "chat/jinja/scope.h"

namespace evener::chat::jinja {

// Sets the functions that every template can call: range, dict, namespace, raise_exception,
// strftime_now.
void set_globals(Scope& scope);

}  // namespace evener::chat::jinja
