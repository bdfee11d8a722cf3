#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/batch.h"
#include "device/vulkan/steps.h"

namespace evener::device::vulkan {

// What kernels ask about the rows of a batch, brought along once a step. The structs are those of
// kernels/batch.glsl and attention.comp.
struct RowPlace {
  uint32_t first_row;  // of its slice
  uint32_t position;
  uint32_t pages;  // where its sequence's page numbers begin in the list of pages
  uint32_t slot;
};
struct SlicePlace {
  uint32_t first_row;
  uint32_t num_rows;
  uint32_t slot;
};
// Neighbouring rows of one slice that a workgroup of attention takes together.
struct AttentionUnit {
  uint32_t first_row;
  uint32_t num_rows;
  uint32_t position;
  uint32_t pages;
};

class BatchData {
 public:
  // Where they are for the card.
  struct Addresses {
    uint64_t rows = 0;    // RowPlace [rows]
    uint64_t slices = 0;  // SlicePlace [num_slices], those without rows left out
    size_t num_slices = 0;
    uint64_t pages = 0;  // int32
    uint64_t units = 0;  // AttentionUnit
    std::vector<AttentionUnit> host_units;
  };

  // `unit_rows`: of an attention unit, at most; 0: no units are asked for. Empty addresses after a
  // failure. Slices must cover the rows in order.
  const Addresses& get(Steps& steps, const Batch& batch, size_t unit_rows);

 private:
  // All that a slice says, to tell whether the next operation's batch is the same.
  struct KnownSlice {
    size_t first_row;
    size_t num_rows;
    size_t first_position;
    int32_t state_slot;
    std::vector<int32_t> pages;
  };
  bool is_known(const Batch& batch) const;
  void know(const Batch& batch);
  void bring(Steps& steps, const Batch& batch);
  void bring_units(Steps& steps, const Batch& batch, size_t unit_rows);

  std::vector<KnownSlice> known_;
  uint64_t number_ = UINT64_MAX;  // of the step that has them
  size_t unit_rows_ = 0;
  Addresses addresses_;
};

}  // namespace evener::device::vulkan
