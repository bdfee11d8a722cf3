#pragma once

#include <string_view>

namespace evener::chat {

// Our template for a model that brings none. Unknown families get ChatML.
std::string_view family_template(std::string_view family);

}  // namespace evener::chat
