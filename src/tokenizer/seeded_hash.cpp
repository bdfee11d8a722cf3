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

template <class Word>
uint64_t load(const char* bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Up to 8 bytes as one number. Of one length, different bytes make different numbers.
uint64_t short_word(std::string_view bytes) {
  const size_t size = bytes.size();
  const char* begin = bytes.data();
  if (size >= 4) return load<uint32_t>(begin) << 32 | load<uint32_t>(begin + size - 4);
  if (size >= 2) return load<uint16_t>(begin) << 16 | load<uint16_t>(begin + size - 2);
  return size == 1 ? load<uint8_t>(begin) : 0;
}

}  // namespace

// The last word may hold bytes of the one before again: the size, which is hashed too, says which.
uint64_t hash_bytes(std::string_view bytes) {
  const uint64_t factor = seed() | 1;
  uint64_t hash = seed() ^ (bytes.size() * kOdd);
  if (bytes.size() < sizeof(uint64_t))
    return mix(mix(hash ^ short_word(bytes), factor) + kOdd, kOdd);
  const char* last = bytes.data() + bytes.size() - sizeof(uint64_t);
  for (const char* at = bytes.data(); at < last; at += sizeof(uint64_t)) {
    hash = mix(hash ^ load<uint64_t>(at), factor) + kOdd;
  }
  return mix(mix(hash ^ load<uint64_t>(last), factor) + kOdd, kOdd);
}

uint64_t hash_number(uint64_t number) {
  return mix(number ^ seed(), mix(number + kOdd, seed() | 1) | 1);
}

}  // namespace evener::tokenizer
