#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "gguf/tensor.h"
#include "hf/folder_config.h"
#include "hf/recipe.h"
#include "hf/tensor_names.h"
#include "safetensors/folder.h"

namespace evener::hf {

// A folder's tensors as a GGUF file would list them, and how those are made that a folder has in
// another form.
struct TensorList {
  std::vector<gguf::Tensor> tensors;  // with bytes where the folder has them as they are
  std::vector<Recipe> recipes;        // [tensors]
};

// Finds what makes each tensor and looks at everything that can be seen before values are decoded:
// types, shapes against each other and config.json's sizes, scales and indices of coded matrices.
// What a folder may lack, it may lack here: that is for the model's list to say. Errors: corrupt,
// unsupported, naming tensor and file; tensors that no rule takes, all in one message.
Result<TensorList> list_tensors(const safetensors::Folder& folder, const FolderConfig& config,
                                const TensorNames& names);

}  // namespace evener::hf
