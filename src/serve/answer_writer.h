#pragma once

#include <cstddef>

#include "engine/generation.h"
#include "serve/api_error.h"

namespace evener::serve {

// Writes one request's answer in one protocol's form, whole or as a stream. Used on the exchange's
// strand only. A choice is one of the request's sequences.
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;

  // All sequences are queued: what can be sent before the first token.
  virtual void begin() = 0;
  // A step's news of one choice. Its finish is stop or length or not yet.
  virtual void update(size_t choice, const engine::Update& update) = 0;
  // Every choice has finished.
  virtual void finish() = 0;
  // Instead of finish(), before or after begin().
  virtual void fail(const ApiError& error) = 0;
};

}  // namespace evener::serve
