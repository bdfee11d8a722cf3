#include "parallel/call_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace evener::parallel {

std::string to_text(const CallShape& shape) {
  std::string text = fmt::format("{} of [{}, {}]", name_of(shape.kind), shape.rows, shape.cols);
  if (shape.kind == CallKind::broadcast) text += fmt::format(" from {}", shape.root);
  return text;
}

Share share_of(size_t rank, size_t num_ranks, size_t count) {
  constexpr size_t kLine = 64 / sizeof(float);
  const size_t num_lines = (count + kLine - 1) / kLine;
  const size_t begin = std::min(rank * num_lines / num_ranks * kLine, count);
  const size_t end = std::min((rank + 1) * num_lines / num_ranks * kLine, count);
  return {begin, end - begin};
}

}  // namespace evener::parallel
