#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/error.h"
#include "device/device.h"
#include "gguf/file.h"
#include "model/model.h"

namespace evener::model {

// Sizes of the file's model without loading any weight. Errors: unsupported (family, rope scaling),
// corrupt (missing or impossible sizes), naming file and key.
Result<Config> read_config(const gguf::File& file);

// A model of the right shape without weights, for sums and checks before any memory is taken.
// Errors: as read_config; corrupt when tensors are missing, unknown or of the wrong shape or type,
// all in one message.
Result<std::unique_ptr<Model>> describe_model(const gguf::File& file);

// Bytes of the file's tensors that the model uses. A packed weight takes about as much; the packing
// device pads outputs to its vector width.
size_t weight_bytes(const gguf::File& file, Model& model);

// The most that loading takes besides, and gives back: a tensor that no file holds as it is, the
// copy of a matrix whose rows lie apart in a tensor that holds several.
size_t loading_bytes(const gguf::File& file, Model& model);

// `done` and `total` in bytes of the file. Returning false ends the loading with Code::cancelled.
using LoadProgress = std::function<bool(size_t done, size_t total)>;

// describe_model(), then uploads every weight. MTP layers behind the trunk stay in the file, which
// must outlive the model: embeddings are read from it.
Result<std::unique_ptr<Model>> load_model(const gguf::File& file, device::Device& device,
                                          const LoadProgress& progress);

}  // namespace evener::model
