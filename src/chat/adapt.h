#pragma once

#include "chat/conversation.h"
#include "chat/template_capabilities.h"

namespace evener::chat {

// A conversation in the OpenAI shape, changed where a template with these capabilities would not
// take it. What is malformed stays as it is: the template says so.
Conversation adapt(Conversation conversation, const TemplateCapabilities& capabilities);

}  // namespace evener::chat
