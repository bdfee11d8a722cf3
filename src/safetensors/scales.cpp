#include "safetensors/scales.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace evener::safetensors {

Result<Scales> Scales::of(const Folder& folder, const Tensor& tensor) {
  const Element element = tensor.element;
  if (element == Element::F32 || element == Element::F16 || element == Element::BF16) {
    return Scales(tensor);
  }
  Error error = folder.tensor_error(
      tensor, fmt::format("has type {}, scales are F32, F16 or BF16", info(element).name));
  error.code = Code::unsupported;
  return error;
}

Status Scales::check_finite(const Folder& folder) const {
  const uint64_t count = tensor_->num_elements();
  for (uint64_t i = 0; i < count; ++i) {
    if (std::isfinite((*this)[i])) continue;
    return folder.tensor_error(*tensor_, fmt::format("scale {} is not a finite number", i),
                               "the file is damaged: fetch it again");
  }
  return {};
}

Result<const Tensor*> find_part(const Folder& folder, std::string_view stem,
                                std::string_view suffix) {
  const std::string name = fmt::format("{}{}", stem, suffix);
  if (const Tensor* tensor = folder.find(name)) return tensor;
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = fmt::format("{}, tensor '{}'", folder.name(), printable(name, 120)),
               .why = "is missing beside its codes",
               .remedy = {}};
}

Status check_shape(const Folder& folder, const Tensor& tensor, std::span<const uint64_t> shape) {
  if (std::ranges::equal(tensor.shape, shape)) return {};
  return folder.tensor_error(tensor, fmt::format("has shape {}, the codes ask for {}",
                                                 shape_text(tensor.shape), shape_text(shape)));
}

Status check_element(const Folder& folder, const Tensor& tensor, Element element) {
  if (tensor.element == element) return {};
  return folder.tensor_error(
      tensor, fmt::format("has type {}, not {}", info(tensor.element).name, info(element).name));
}

}  // namespace evener::safetensors
