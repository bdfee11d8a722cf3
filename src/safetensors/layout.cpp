#include "safetensors/layout.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "safetensors/layouts.h"

namespace evener::safetensors {
namespace {

const Layout* const kLayouts[] = {&fp8, &gptq, &awq};

bool is_plain(const Tensor& tensor) {
  return tensor.element == Element::F32 || tensor.element == Element::F16 ||
         tensor.element == Element::BF16;
}

}  // namespace

void CodedMatrix::repack(DType, size_t, size_t, std::byte*) const {
  assertion_failed("a matrix with a block format repacks itself", __FILE__, __LINE__);
}

Result<std::unique_ptr<CodedMatrix>> open_coded(const Folder& folder, std::string_view stem,
                                                const QuantConfig& config) {
  for (const Layout* const layout : kLayouts) {
    if (layout->method != config.method) continue;
    const Tensor* codes = folder.find(fmt::format("{}{}", stem, layout->codes));
    if (codes != nullptr && !is_plain(*codes)) return layout->open(folder, stem, *codes, config);
  }
  return nullptr;
}

}  // namespace evener::safetensors
