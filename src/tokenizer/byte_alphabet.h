#pragma once

#include <cstdint>
#include <optional>

namespace evener::tokenizer {

// Byte-level BPE vocabularies spell tokens with one printable character a byte: bytes that print as
// themselves in Latin-1 keep their code point, the others (controls, space, 0x7F..0xA0, 0xAD) take
// U+0100, U+0101, ... in order. A space is thus U+0120. Source: GPT-2.
char32_t byte_to_character(uint8_t byte);

// The byte that a character stands for; nothing for characters outside the alphabet.
std::optional<uint8_t> character_to_byte(char32_t character);

}  // namespace evener::tokenizer
