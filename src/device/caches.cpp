#include "device/caches.h"

#include <fmt/format.h>

namespace evener::device {

Status KvCacheShape::check() const {
  const KvTypeInfo& layout = info(type);
  if (head_dim % layout.block_size == 0) return {};
  return Error{.code = Code::unsupported,
               .doing = "keep keys and values",
               .where = fmt::format("as {}", layout.name),
               .why = fmt::format("its blocks are {} channels wide, the model's heads have {}",
                                  layout.block_size, head_dim),
               .remedy = "choose --kv f16 or --kv fp8"};
}

}  // namespace evener::device
