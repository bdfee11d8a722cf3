#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace evener::safetensors {

// How one number of a tensor is stored.
enum class Element {
  BOOL,
  U8,
  I8,
  F8_E4M3,
  F8_E5M2,
  U16,
  I16,
  F16,
  BF16,
  U32,
  I32,
  F32,
  U64,
  I64,
  F64,
};

struct ElementInfo {
  Element element;
  std::string_view name;  // as headers write it
  uint32_t size_bytes;
  std::optional<DType> dtype;  // the same layout among the weight formats, if there is one
};

const ElementInfo& info(Element element);

// The element that a header names, or nothing.
std::optional<Element> element_from_name(std::string_view name);

}  // namespace evener::safetensors
