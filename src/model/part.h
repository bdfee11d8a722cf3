#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"
#include "model/config.h"
#include "model/range.h"
#include "parallel/layout.h"

namespace evener::model {

// The part of a model that one rank has: neighbouring layers, and of each layer some of its heads
// and channels. Every range counts in the whole model.
struct Part {
  size_t shard = 0;  // among the ranks that have the same layers
  size_t num_shards = 1;
  Range layers;
  bool has_first_layer = true;  // it begins with tokens; else with rows from the stage before
  bool has_last_layer = true;   // it ends with logits; else with rows for the stage behind

  Range vocabulary;  // rows of the embedding and of the head
  Range heads;
  Range kv_heads;                  // those that `heads` use; ranks may have the same ones
  Range intermediate;              // channels of a dense MLP
  Range key_heads;                 // of a delta net; ranks may have the same ones
  std::vector<Range> value_heads;  // those of key_heads that are this rank's, in the model's order
  Range experts;                   // routed; all of them, or
  Range expert_intermediate;       // all channels
  Range shared_intermediate;       // of the shared expert

  // The bias of a map whose inputs are cut is to be in the sum of all shards once.
  bool adds_biases() const { return shard == 0; }
};

// All of it.
Part whole_part(const Config& config);

// The sizes that a rank computes with: `whole` with the part's own heads, channels, layers.
Config config_of(const Config& whole, const Part& part);

// One part for each rank of the layout, in rank order. Cuts fall between heads and, where that
// leaves every rank some, on the borders of the blocks of the weights whose inputs are cut.
// Errors: as read_config; invalid_argument (more stages than layers, more shards than heads, a
// border beyond the last layer), naming what there is.
Result<std::vector<Part>> cut_model(const gguf::File& file, const parallel::Layout& layout);

}  // namespace evener::model
