#pragma once

#include <cstddef>

#include "base/error.h"
#include "device/kv_type.h"
#include "gguf/file.h"
#include "parallel/choose_layout.h"

namespace evener::engine {

struct ModelCostOptions {
  size_t num_tokens = 0;  // of the one sequence whose caches are counted
  size_t num_rows = 0;    // of the largest pass
  size_t num_logit_rows = 0;
  device::KvType kv_type = device::KvType::f16;
};

// What each layer of the file's model and its head cost, from the sizes of its tensors: what a
// layout is chosen by before anything is cut. The embedding stays in the file and costs nothing,
// unless it is the head too; MTP layers are not loaded. Scratch is that of the whole model, of
// which a rank needs less. Errors: as model::describe_model.
Result<parallel::ModelCost> model_cost(const gguf::File& file, const ModelCostOptions& options);

}  // namespace evener::engine
