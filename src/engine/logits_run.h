#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "gguf/file.h"
#include "model/loader.h"
#include "model/model.h"

namespace evener::engine {

struct LogitsRunOptions {
  device::KvType kv_type = device::KvType::f16;
  size_t chunk = 512;         // tokens a pass
  size_t num_tokens_max = 0;  // of all feeds since the start, or the last restart(), together
};

// One sequence through a model without the step loop, every token's logits handed out: the door for
// checking numbers from outside, and for measures over whole texts. One thread.
class LogitsRun {
 public:
  // Loads the file's model onto the device; both must outlive the run. Errors: as
  // model::load_model.
  static Result<LogitsRun> create(const gguf::File& file, device::Device& device,
                                  const LogitsRunOptions& options,
                                  const model::LoadProgress& progress = {});

  // Called with the index of the token within its feed and the logits [vocab_size] that follow it.
  using Row = std::function<void(size_t index, std::span<const float> logits)>;

  // Reads tokens behind those of earlier feeds; `row` gets the logits behind those from
  // `first_row` on. Errors: invalid_argument (an id outside the vocabulary, more than
  // num_tokens_max).
  Result<void> feed(std::span<const int32_t> tokens, const Row& row, size_t first_row = 0);

  // Forgets what was read: the next feed begins a sequence.
  void restart();

  const model::Config& config() const { return model_->config(); }

  // How often each expert has been chosen: [layers][experts]; empty in models without.
  std::vector<std::vector<uint64_t>> expert_uses() const {
    return model::expert_uses(*device_, memory_);
  }

 private:
  LogitsRun(device::Device& device, const LogitsRunOptions& options,
            std::unique_ptr<model::Model> model, model::RankMemory memory);
  // Leaves the logits behind the tokens from first_row on in logits_.
  void run_chunk(std::span<const int32_t> tokens, size_t first_row);

  device::Device* device_;
  LogitsRunOptions options_;
  std::unique_ptr<model::Model> model_;
  model::RankMemory memory_;
  std::vector<int32_t> pages_;
  std::vector<float> logits_;  // [chunk, vocab]
  size_t position_ = 0;
};

}  // namespace evener::engine
