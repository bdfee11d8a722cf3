// Any bytes as a GGUF file: it is refused, or all that it gives can be read, summed up and written
// again with the same meaning. Seeds: tests/data/fuzz/gguf.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "gguf/file.h"
#include "gguf/header.h"
#include "gguf/summary.h"

namespace evener::gguf {
namespace {

// Reads every byte that the file handed out; the sanitizers watch.
size_t touch(const File& file) {
  size_t sum = 0;
  for (const Tensor& tensor : file.tensors()) {
    for (const std::byte byte : tensor.bytes) sum += std::to_integer<size_t>(byte);
    EVENER_ASSERT(file.find_tensor(tensor.name) == &tensor);
    EVENER_ASSERT(tensor.num_elements() > 0);
  }
  for (const auto& [key, value] : file.metadata()) {
    EVENER_ASSERT(file.find(key) == &value);
    if (const auto text = value.as_string()) sum += std::hash<std::string_view>()(*text);
    if (const auto texts = file.get_strings(key)) {
      for (const std::string_view text : *texts) sum += std::hash<std::string_view>()(text);
    }
    sum += file.get_ints(key).has_value() ? 1 : 0;
    sum += file.get_floats(key).has_value() ? 1 : 0;
    sum += file.get_bools(key).has_value() ? 1 : 0;
    sum += file.get_uints_each(key, 3).has_value() ? 1 : 0;
  }
  return sum;
}

// What was read can be written, and what is written is the same file's metadata.
void rewrite(const File& file) {
  Header header;
  for (const auto& [key, value] : file.metadata()) {
    if (key != "general.alignment") header.set(key, value);  // the writer has its own
  }
  const std::vector<std::byte> bytes = header.encode();
  const auto again = File::parse(bytes, "again");
  EVENER_ASSERT(again.has_value());
  Header same;
  for (const auto& [key, value] : again->metadata()) same.set(key, value);
  EVENER_ASSERT(same.encode() == bytes);
}

}  // namespace
}  // namespace evener::gguf

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = evener::gguf::File::parse(bytes, "fuzz");
  if (!file) {
    EVENER_ASSERT(!file.error().why.empty());
    return 0;
  }
  volatile size_t sum = evener::gguf::touch(*file);
  sum = sum + evener::gguf::summarise(*file).num_parameters;
  evener::gguf::rewrite(*file);
  return 0;
}
