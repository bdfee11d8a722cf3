#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/facts.h"

// The words that facts.json has for what HostFacts says in enumerators.

namespace evener::host {

template <class Enum, size_t N>
using Words = std::array<std::pair<Enum, std::string_view>, N>;

inline constexpr Words<IommuMode, 3> kIommuWords{{
    {IommuMode::off, "off"},
    {IommuMode::identity, "identity"},
    {IommuMode::translated, "translated"},
}};

inline constexpr Words<PortKind, 5> kPortWords{{
    {PortKind::root, "root"},
    {PortKind::switch_up, "sw-up"},
    {PortKind::switch_down, "sw-down"},
    {PortKind::card_up, "card-up"},
    {PortKind::card_down, "card-down"},
}};

template <class Enum, size_t N>
constexpr std::optional<Enum> value_of(const Words<Enum, N>& words, std::string_view text) {
  for (const auto& [value, word] : words) {
    if (word == text) return value;
  }
  return {};
}

template <class Enum, size_t N>
constexpr std::string_view word_of(const Words<Enum, N>& words, Enum value) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  return {};
}

// "off, identity, translated"
template <class Enum, size_t N>
std::string list_of(const Words<Enum, N>& words) {
  std::string list;
  for (const auto& [value, word] : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

}  // namespace evener::host
