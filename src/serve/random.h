#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evener::serve {

// From the operating system; safe from any thread.
uint64_t random_u64();

// "chatcmpl-" and 24 random characters of [0-9a-z].
std::string random_id(std::string_view prefix);

}  // namespace evener::serve
