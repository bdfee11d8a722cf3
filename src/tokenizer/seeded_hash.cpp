#include "tokenizer/seeded_hash.h"

#include <cstring>
#include <random>

namespace evener::tokenizer {
namespace {

uint64_t draw_seed() {
  std::random_device device;
  return uint64_t(device()) << 32 | device();
}

uint64_t seed() {
  static const uint64_t drawn = draw_seed();
  return drawn;
}

// Multiplies to 128 bits and folds: every bit of both words reaches every bit of the result.
uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide(a) * b;
  return uint64_t(product) ^ uint64_t(product >> 64);
}

constexpr uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = seed() ^ (bytes.size() * kOdd);
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t count = bytes.size() < sizeof word ? bytes.size() : sizeof word;
    std::memcpy(&word, bytes.data(), count);
    hash = mix(hash ^ word, seed() | 1) + kOdd;
    bytes.remove_prefix(count);
  }
  return mix(hash, kOdd);
}

uint64_t hash_number(uint64_t number) {
  return mix(number ^ seed(), mix(number + kOdd, seed() | 1) | 1);
}

}  // namespace evener::tokenizer
