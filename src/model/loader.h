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

// The same for a part, one of whole_part() or cut_model() of this file. The whole file is checked.
Result<std::unique_ptr<Model>> describe_model(const gguf::File& file, const Part& part);

// Bytes of the file's tensors that the model, or the part that it is, uses; where its cut falls
// inside the blocks of a matrix, those of F16. A packed weight takes about as much; the packing
// device pads outputs to its vector width.
size_t weight_bytes(const gguf::File& file, Model& model);

// The most that loading takes besides, and gives back: a tensor that no file holds as it is, the
// copy of a matrix whose rows lie apart in a tensor that holds several, or whose columns are cut.
size_t loading_bytes(const gguf::File& file, Model& model);

// `done` and `total` in bytes of the file. Returning false ends the loading with Code::cancelled.
using LoadProgress = std::function<bool(size_t done, size_t total)>;

// describe_model(), then uploads every weight. MTP layers behind the trunk stay in the file, which
// must outlive the model: embeddings are read from it.
Result<std::unique_ptr<Model>> load_model(const gguf::File& file, device::Device& device,
                                          const LoadProgress& progress);

// The same for a part, as describe_model() takes it. Of no tensor more is uploaded than the part's
// rows and columns.
Result<std::unique_ptr<Model>> load_model(const gguf::File& file, const Part& part,
                                          device::Device& device, const LoadProgress& progress);

}  // namespace evener::model
