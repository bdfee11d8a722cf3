#include "safetensors/element.h"

#include "base/assert.h"

namespace evener::safetensors {
namespace {

constexpr ElementInfo kElements[] = {
    {Element::BOOL, "BOOL", 1, std::nullopt},
    {Element::U8, "U8", 1, std::nullopt},
    {Element::I8, "I8", 1, DType::I8},
    {Element::F8_E4M3, "F8_E4M3", 1, std::nullopt},
    {Element::F8_E5M2, "F8_E5M2", 1, std::nullopt},
    {Element::U16, "U16", 2, std::nullopt},
    {Element::I16, "I16", 2, DType::I16},
    {Element::F16, "F16", 2, DType::F16},
    {Element::BF16, "BF16", 2, DType::BF16},
    {Element::U32, "U32", 4, std::nullopt},
    {Element::I32, "I32", 4, DType::I32},
    {Element::F32, "F32", 4, DType::F32},
    {Element::U64, "U64", 8, std::nullopt},
    {Element::I64, "I64", 8, DType::I64},
    {Element::F64, "F64", 8, DType::F64},
};

}  // namespace

const ElementInfo& info(Element element) {
  for (const ElementInfo& entry : kElements) {
    if (entry.element == element) return entry;
  }
  assertion_failed("element is an enumerator", __FILE__, __LINE__);
}

std::optional<Element> element_from_name(std::string_view name) {
  for (const ElementInfo& entry : kElements) {
    if (entry.name == name) return entry.element;
  }
  return std::nullopt;
}

}  // namespace evener::safetensors
