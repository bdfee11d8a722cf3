#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Numbers and lists as the doctor writes them.

namespace evener::doctor {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string size_text(uint64_t bytes);    // "24560 MiB", "32 GiB": the largest unit without a rest
std::string window_text(uint64_t bytes);  // "64 GiB + 4 MiB"
std::string address_text(uint64_t address);  // "0x380400000000"
std::string rate_text(double gb_per_s);      // "7.04 GB/s"
std::string count_text(size_t number);       // "two", "4"
// "A, B and C"
std::string list_text(const std::vector<std::string>& names);

std::string lower_case(std::string_view text);
// Without regard to case.
bool mentions(std::string_view text, std::string_view word);

// Adds what is not there.
void add_new(std::vector<std::string>& list, const std::string& text);
void add_new(std::vector<std::string>& list, const std::vector<std::string>& texts);

}  // namespace evener::doctor
