#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace evener::device {

// How a cache keeps keys and values.
//   q8_0   codes of 8 bits; 32 neighbouring channels of a head share a half as scale. Heads must be
//          a multiple of 32 wide
//   fp8    8-bit floats of 4 exponent and 3 fraction bits ("e4m3fn") without scales; what is larger
//          than 448 becomes 448, what is no finite number becomes NaN
enum class KvType { f32, f16, q8_0, fp8 };

// Layout of one type: `block_size` neighbouring channels of a head take `block_bytes` bytes.
struct KvTypeInfo {
  KvType type;
  std::string_view name;  // as people write it
  uint32_t block_size;
  uint32_t block_bytes;
};

inline constexpr KvTypeInfo kKvTypes[] = {
    {KvType::f32, "f32", 1, 4},
    {KvType::f16, "f16", 1, 2},
    {KvType::q8_0, "q8_0", 32, 34},
    {KvType::fp8, "fp8", 1, 1},
};

constexpr const KvTypeInfo& info(KvType type) { return kKvTypes[size_t(type)]; }

// The type of a name, or nothing.
constexpr std::optional<KvType> kv_type_from_name(std::string_view name) {
  for (const KvTypeInfo& entry : kKvTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

}  // namespace evener::device
