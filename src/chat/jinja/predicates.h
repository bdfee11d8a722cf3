#pragma once

#include <string_view>

#include "chat/jinja/context.h"
#include "chat/jinja/function.h"

namespace evener::chat::jinja {

// `value is name(arguments)`. Error: there is no test of that name.
Result<bool> apply_test(Context& context, std::string_view name, const Value& value,
                        const Arguments& arguments);

}  // namespace evener::chat::jinja
