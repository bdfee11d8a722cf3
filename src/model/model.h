#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/error.h"
#include "gguf/file.h"
#include "model/config.h"
#include "model/pass.h"

namespace evener::model {

// One model's weights on one rank, and its forward pass. Immutable after loading.
class Model {
 public:
  virtual ~Model() = default;

  const Config& config() const { return config_; }
  size_t weight_bytes() const { return weight_bytes_; }  // of device memory

  // Floats of scratch that forward() needs at most for passes of up to this many rows.
  virtual size_t scratch_floats(size_t num_rows, size_t num_logit_rows) const = 0;

  // Runs the pass: stores its rows' keys, values and states and returns the logits
  // [input.logit_rows.size(), vocab_size] in the pass's scratch: read them before the next pass.
  virtual device::Tensor forward(Pass& pass) const = 0;

 protected:
  explicit Model(Config config) : config_(std::move(config)) {}
  Config config_;
  size_t weight_bytes_ = 0;
};

// Sizes of the file's model without loading any weight. Errors: unsupported (family, rope scaling),
// corrupt (missing or impossible sizes), naming file and key.
Result<Config> read_config(const gguf::File& file);

// Bytes of weights on the device that load_model() will take, before taking any.
Result<size_t> weight_bytes_needed(const gguf::File& file);

using LoadProgress = std::function<void(size_t bytes_done, size_t bytes_total)>;

// Uploads every weight. Missing or unknown tensors and wrong shapes are one error that lists them,
// found before anything is uploaded. The file must outlive the model.
Result<std::unique_ptr<Model>> load_model(const gguf::File& file, device::Device& device,
                                          const LoadProgress& progress);

// Names of the families that can be loaded, for messages.
std::string family_names();

}  // namespace evener::model
