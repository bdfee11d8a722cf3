#include "chat/jinja/budget.h"

#include <fmt/format.h>

#include "chat/jinja/failure.h"

namespace evener::chat::jinja {

Error Budget::out_of_steps() const {
  return too_much(fmt::format("the template did not end within {} steps", limits_.num_steps));
}

Status Budget::check_string(size_t bytes) const {
  if (bytes <= limits_.string_bytes) return {};
  return too_much(fmt::format("a text would have {} bytes, at most {} are allowed", bytes,
                              limits_.string_bytes));
}

Status Budget::check_elements(size_t num_elements) const {
  if (num_elements <= limits_.num_elements) return {};
  return too_much(fmt::format("a list would have {} elements, at most {} are allowed", num_elements,
                              limits_.num_elements));
}

Status Budget::take(size_t bytes) {
  if (bytes > limits_.memory_bytes - memory_bytes_) {
    return too_much(
        fmt::format("the template's values need more than {} bytes", limits_.memory_bytes));
  }
  memory_bytes_ += bytes;
  return {};
}

}  // namespace evener::chat::jinja
