#pragma once

#include <string_view>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

// Python's "format" % arguments for %s %r %d %i %x %X %o %e %f %g %c and %%, with the flags - + 0,
// space and #, a width, a precision and %(name)s. `arguments` is a tuple, a mapping for names, or
// one value.
Result<Value> percent_format(Budget& budget, std::string_view format, const Value& arguments);

}  // namespace evener::chat::jinja
