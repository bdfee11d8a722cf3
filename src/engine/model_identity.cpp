#include "engine/model_identity.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "tensor/dtype.h"

namespace evener::engine {
namespace {

constexpr size_t kSampleBytes = 4096;
constexpr size_t kNumSamples = 4;  // of a tensor: its first and last bytes, and some between

class Hash {
 public:
  Hash() { XXH3_128bits_reset(state_.get()); }

  void add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }
  // With its length, so that neighbours do not run together.
  void add(std::string_view text) {
    const size_t size = text.size();
    add(std::as_bytes(std::span(&size, 1)));
    add(std::as_bytes(std::span(text.data(), text.size())));
  }

  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

void add_number(Hash& hash, const gguf::MetadataEntry& entry) {
  if (const auto flag = entry.value.as_bool()) hash.add(fmt::format("{}={}", entry.key, *flag));
  if (const auto number = entry.value.as_uint()) hash.add(fmt::format("{}={}", entry.key, *number));
  if (const auto number = entry.value.as_float()) {
    hash.add(fmt::format("{}={}", entry.key, *number));
  }
}

void add_samples(Hash& hash, std::span<const std::byte> bytes) {
  const size_t size = std::min(kSampleBytes, bytes.size());
  for (size_t i = 0; i < kNumSamples; ++i) {
    hash.add(bytes.subspan((bytes.size() - size) / (kNumSamples - 1) * i, size));
  }
}

}  // namespace

std::string model_identity(const gguf::File& file) {
  Hash hash;
  for (const gguf::MetadataEntry& entry : file.metadata()) add_number(hash, entry);
  for (const gguf::Tensor& tensor : file.tensors()) {
    hash.add(tensor.name);
    hash.add(info(tensor.dtype).name);
    hash.add(gguf::shape_text(tensor.shape));
    add_samples(hash, tensor.bytes);  // made tensors are told apart by the others
  }
  return hash.text();
}

}  // namespace evener::engine
