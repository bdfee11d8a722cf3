#pragma once

#include <cstddef>
#include <string>

#include "engine/generation.h"

namespace evener::serve {

// Writes one request's answer in one protocol's form, whole or as a stream. Used on the exchange's
// strand only. A choice is one of the request's sequences. Errors are not its business: they go to
// Exchange::fail().
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;

  // Under which the client knows the answer: "chatcmpl-...".
  virtual const std::string& id() const = 0;

  // All sequences are queued.
  virtual void begin() = 0;
  // A step's news of one choice. Its finish is stop or length or not yet.
  virtual void update(size_t choice, const engine::Update& update) = 0;
  // Every choice has finished.
  virtual void finish() = 0;
};

}  // namespace evener::serve
