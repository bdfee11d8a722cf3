#include "device/vulkan/batch_data.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "device/batch_checks.h"

namespace evener::device::vulkan {
namespace {

template <class T>
uint64_t bring_values(Steps& steps, const std::vector<T>& values) {
  // Powers of two: a page more must not move what is brought along behind.
  const size_t bytes = values.size() * sizeof(T);
  const SharedPiece piece = steps.bring(std::bit_ceil(std::max<size_t>(bytes, 256)));
  if (piece.host != nullptr && bytes > 0) std::memcpy(piece.host, values.data(), bytes);
  return piece.address;
}

}  // namespace

bool BatchData::is_known(const Batch& batch) const {
  return std::ranges::equal(batch.slices, known_, [](const Slice& a, const KnownSlice& b) {
    return a.first_row == b.first_row && a.num_rows == b.num_rows &&
           a.first_position == b.first_position && a.state_slot == b.state_slot &&
           std::ranges::equal(a.pages, b.pages);
  });
}

void BatchData::know(const Batch& batch) {
  known_.clear();
  for (const Slice& slice : batch.slices) {
    known_.push_back({.first_row = slice.first_row,
                      .num_rows = slice.num_rows,
                      .first_position = slice.first_position,
                      .state_slot = slice.state_slot,
                      .pages = {slice.pages.begin(), slice.pages.end()}});
  }
}

const BatchData::Addresses& BatchData::get(Steps& steps, const Batch& batch, size_t unit_rows) {
  check_slices(batch);

  if (number_ != steps.number() || !is_known(batch)) {
    know(batch);
    number_ = steps.number();
    unit_rows_ = 0;
    bring(steps, batch);
  }
  if (unit_rows != 0 && unit_rows != unit_rows_) {
    unit_rows_ = unit_rows;
    bring_units(steps, batch, unit_rows);
  }
  return addresses_;
}

void BatchData::bring(Steps& steps, const Batch& batch) {
  std::vector<RowPlace> rows;
  std::vector<SlicePlace> slices;
  std::vector<int32_t> pages;
  for (const Slice& slice : batch.slices) {
    const auto slot = uint32_t(std::max(slice.state_slot, 0));
    if (slice.num_rows > 0) {
      slices.push_back({uint32_t(slice.first_row), uint32_t(slice.num_rows), slot});
    }
    for (size_t i = 0; i < slice.num_rows; ++i) {
      rows.push_back({uint32_t(slice.first_row), uint32_t(slice.first_position + i),
                      uint32_t(pages.size()), slot});
    }
    pages.insert(pages.end(), slice.pages.begin(), slice.pages.end());
  }
  addresses_.rows = bring_values(steps, rows);
  addresses_.slices = bring_values(steps, slices);
  addresses_.num_slices = slices.size();
  addresses_.pages = bring_values(steps, pages);
}

void BatchData::bring_units(Steps& steps, const Batch& batch, size_t unit_rows) {
  std::vector<AttentionUnit>& units = addresses_.host_units;
  units.clear();
  uint32_t pages = 0;
  for (const Slice& slice : batch.slices) {
    for (size_t i = 0; i < slice.num_rows; i += unit_rows) {
      units.push_back({uint32_t(slice.first_row + i),
                       uint32_t(std::min(unit_rows, slice.num_rows - i)),
                       uint32_t(slice.first_position + i), pages});
    }
    pages += uint32_t(slice.pages.size());
  }
  addresses_.units = bring_values(steps, units);
}

}  // namespace evener::device::vulkan
