#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "chat/jinja/ast.h"
#include "chat/template_limits.h"

namespace evener::chat::jinja {

// A template's text as a tree. The tree keeps nothing of `source`.
// Errors: corrupt, unsupported or limit_exceeded, with the line.
Result<std::unique_ptr<const ast::Tree>> parse(std::string_view source,
                                               const TemplateLimits& limits);

}  // namespace evener::chat::jinja
