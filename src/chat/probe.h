#pragma once

#include <functional>

#include "base/error.h"
#include "chat/conversation.h"
#include "chat/template_capabilities.h"

namespace evener::chat {

using Render = std::function<Result<std::string>(const Conversation&)>;

// Finds out what a template does by rendering small conversations through `render`.
TemplateCapabilities probe(const Render& render);

}  // namespace evener::chat
