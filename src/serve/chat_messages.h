#pragma once

#include "chat/chat_template.h"
#include "serve/fields.h"
#include "serve/json.h"

namespace evener::serve {

// Reads "messages", checks their shape and turns them into what templates understand: "developer"
// becomes "system" where the template does not know it, text parts become one string where it takes
// no parts, arguments of tool calls become objects, "reasoning" becomes "reasoning_content".
// Faults go to `fields`, naming message and part.
Json read_messages(Fields& fields, const chat::ChatTemplate& chat_template);

}  // namespace evener::serve
