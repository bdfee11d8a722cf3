#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace evener {

// How the values of a tensor are stored. The numbers are those of the GGUF file format.
enum class DType : uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q8_1 = 9,
  Q2_K = 10,
  Q3_K = 11,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  Q8_K = 15,
  IQ2_XXS = 16,
  IQ2_XS = 17,
  IQ3_XXS = 18,
  IQ1_S = 19,
  IQ4_NL = 20,
  IQ3_S = 21,
  IQ2_S = 22,
  IQ4_XS = 23,
  I8 = 24,
  I16 = 25,
  I32 = 26,
  I64 = 27,
  F64 = 28,
  IQ1_M = 29,
  BF16 = 30,
  TQ1_0 = 34,
  TQ2_0 = 35,
  MXFP4 = 39,
  NVFP4 = 40,
  Q1_0 = 41,
  Q2_0 = 42,
};

// Layout of one type: `block_size` neighbouring values of a row share `block_bytes` bytes.
struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as the field writes it: "Q4_K"
  uint32_t block_size;
  uint32_t block_bytes;
};

// All known types, ascending by number.
extern const DTypeInfo kDTypes[];
extern const size_t kNumDTypes;

// Layout by type. Every enumerator has one.
const DTypeInfo& info(DType dtype);

// The type of a number from a file, or nothing if the number is unknown or retired.
std::optional<DType> dtype_from_id(uint32_t id);

// The type of a name as the field writes it, in any case ("q4_k"), or nothing.
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace evener
