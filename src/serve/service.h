#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "chat/chat_template.h"
#include "serve/generator.h"

namespace evener::serve {

// The loaded model with all that requests need of it. Immutable; any thread.
struct Service {
  std::unique_ptr<Generator> generator;
  chat::ChatTemplate chat_template;
  std::string model_id;     // of /v1/models and of every answer
  int64_t created_seconds;  // since 1970; when the model was ready
};

using ServicePtr = std::shared_ptr<const Service>;

}  // namespace evener::serve
