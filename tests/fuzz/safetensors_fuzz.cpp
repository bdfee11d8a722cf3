// Any bytes as a safetensors file: it is refused, or all its tensors can be read and every byte of
// the data is in exactly one of them. Seeds: tests/data/fuzz/safetensors.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "safetensors/header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto tensors = evener::safetensors::read_header(bytes, "fuzz");
  if (!tensors) {
    EVENER_ASSERT(!tensors.error().why.empty());
    return 0;
  }
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, data, sizeof header_bytes);
  size_t sum = 0;
  const std::byte* end = bytes.data() + sizeof header_bytes + header_bytes;
  for (const auto& tensor : *tensors) {
    EVENER_ASSERT(tensor.bytes.data() == end);
    EVENER_ASSERT(tensor.bytes.size() ==
                  tensor.num_elements() * evener::safetensors::info(tensor.element).size_bytes);
    for (const std::byte byte : tensor.bytes) sum += std::to_integer<size_t>(byte);
    end += tensor.bytes.size();
  }
  EVENER_ASSERT(end == bytes.data() + bytes.size());
  volatile size_t keep = sum;
  (void)keep;
  return 0;
}
