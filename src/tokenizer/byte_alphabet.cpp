#include "tokenizer/byte_alphabet.h"

#include <array>

namespace evener::tokenizer {
namespace {

constexpr char32_t kFirstReplacement = 0x100;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<char32_t, 256> character_of{};
  std::array<uint8_t, 256> replaced{};  // the byte behind U+0100 + index
  size_t num_replaced = 0;
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (stands_for_itself(byte)) {
      alphabet.character_of[byte] = byte;
      continue;
    }
    alphabet.character_of[byte] = kFirstReplacement + char32_t(alphabet.num_replaced);
    alphabet.replaced[alphabet.num_replaced++] = uint8_t(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

char32_t byte_to_character(uint8_t byte) { return kAlphabet.character_of[byte]; }

std::optional<uint8_t> character_to_byte(char32_t character) {
  if (character < kFirstReplacement) {
    if (!stands_for_itself(character)) return {};
    return uint8_t(character);
  }
  const char32_t index = character - kFirstReplacement;
  if (index >= kAlphabet.num_replaced) return {};
  return kAlphabet.replaced[index];
}

}  // namespace evener::tokenizer
