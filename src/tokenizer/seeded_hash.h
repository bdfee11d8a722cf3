#pragma once

#include <cstdint>
#include <string_view>

namespace evener::tokenizer {

// Hashes for tables filled from a file. The seed is drawn once a process, so that nobody can craft
// a vocabulary whose entries collide. Tables must not let the hash decide any result.
uint64_t hash_bytes(std::string_view bytes);
uint64_t hash_number(uint64_t number);

}  // namespace evener::tokenizer
