#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"
#include "safetensors/folder.h"
#include "tensor/float16.h"

namespace evener::safetensors {

// Number `index` of a tensor's bytes, of whatever alignment.
template <class T>
T number_at(std::span<const std::byte> bytes, size_t index) {
  T value{};
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof value);
  return value;
}

// A tensor of F32, F16 or BF16 numbers, read as f32.
class Scales {
 public:
  // Errors: unsupported (another type), naming tensor and file.
  static Result<Scales> of(const Folder& folder, const Tensor& tensor);

  float operator[](size_t index) const {
    if (tensor_->element == Element::F32) return number_at<float>(tensor_->bytes, index);
    const auto half = number_at<uint16_t>(tensor_->bytes, index);
    return tensor_->element == Element::F16 ? f16_to_f32(half) : bf16_to_f32(half);
  }
  const Tensor& tensor() const { return *tensor_; }

  // Error: corrupt if one is infinite or no number.
  Status check_finite(const Folder& folder) const;

 private:
  explicit Scales(const Tensor& tensor) : tensor_(&tensor) {}

  const Tensor* tensor_;
};

// The tensor `stem` + `suffix`, which must be there and be of type and shape. Errors: corrupt,
// naming tensor and file.
Result<const Tensor*> find_part(const Folder& folder, std::string_view stem,
                                std::string_view suffix);
Status check_shape(const Folder& folder, const Tensor& tensor, std::span<const uint64_t> shape);
Status check_element(const Folder& folder, const Tensor& tensor, Element element);

}  // namespace evener::safetensors
