// Between host and card, and within it.
#include <cstring>

#include "device/vulkan/card_device.h"
#include "quant/format.h"

namespace evener::device::vulkan {

void CardDevice::write(std::span<const float> values, const Tensor& y) {
  EVENER_ASSERT(values.size() == y.rows * y.cols);
  if (values.empty()) return;
  if (y.stride == y.cols || y.rows == 1) {
    return write_bytes(std::as_bytes(values), place_of(y), Work::copies);
  }
  // Rows apart: brought in one piece, laid down row by row by a kernel.
  steps_->begin();
  const SharedPiece piece = steps_->bring(values.size_bytes());
  if (piece.host == nullptr) return;
  std::memcpy(piece.host, values.data(), values.size_bytes());
  elementwise(Elementwise::copy, packed_rows(piece.address, y.rows, y.cols), {}, rows_of(y),
              Work::copies);
}

// Where the tensor's values lie side by side: as they are, or in a copy on the card.
Place CardDevice::packed(const Tensor& x) {
  if (x.stride == x.cols || x.rows == 1) return place_of(x);
  if (!reserve(packed_, x.rows * x.cols * sizeof(float))) return {};
  const Place copy = place_in(packed_.region);
  elementwise(Elementwise::copy, rows_of(x), {}, packed_rows(copy.address, x.rows, x.cols),
              Work::copies);
  return copy;
}

void CardDevice::read(const Tensor& x, std::span<float> values) {
  EVENER_ASSERT(values.size() == x.rows * x.cols);
  if (values.empty()) return;
  steps_->begin();
  read_bytes(packed(x), std::as_writable_bytes(values));
}

// Packed on this card first: across the bus go whole runs of bytes.
bool CardDevice::put(const Tensor& x, const SharedPlace& to) {
  const size_t size = x.rows * x.cols * sizeof(float);
  if (size == 0) return bool(steps_->status());
  steps_->begin();
  steps_->copy(packed(x), to.place, size, Work::copies);
  steps_->release(to.place, size, to.other_queues);
  return bool(steps_->finish());
}

bool CardDevice::take(const SharedPlace& from, const Tensor& y) {
  const size_t size = y.rows * y.cols * sizeof(float);
  if (size == 0) return bool(steps_->status());
  steps_->begin();
  steps_->acquire(from.place, size, from.other_queues);
  if (y.stride == y.cols || y.rows == 1) {
    steps_->copy(from.place, place_of(y), size, Work::copies);
  } else {
    elementwise(Elementwise::copy, packed_rows(from.place.address, y.rows, y.cols), {}, rows_of(y),
                Work::copies);
  }
  return bool(steps_->finish());
}

void CardDevice::embedding(const Weight& weight, std::span<const int32_t> ids, const Tensor& y) {
  const auto& rows = static_cast<const HostRowsWeight&>(weight);
  EVENER_ASSERT(y.rows == ids.size());
  EVENER_ASSERT(y.cols == weight.inputs());
  if (ids.empty()) return;
  const quant::Format* const format = quant::find_format(weight.dtype());
  steps_->begin();
  const size_t row_bytes = y.cols * sizeof(float);
  const SharedPiece piece = steps_->bring(ids.size() * row_bytes);
  if (piece.host == nullptr) return;
  std::vector<float> row(y.cols);  // memory behind the bus is written once, in order
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == -1) {
      std::ranges::fill(row, 0.0f);
    } else {
      EVENER_ASSERT(ids[i] >= 0);
      EVENER_ASSERT(size_t(ids[i]) < weight.outputs());
      format->decode(rows.row(size_t(ids[i])), row.data());
    }
    std::memcpy(piece.host + i * row_bytes, row.data(), row_bytes);
  }
  elementwise(Elementwise::copy, packed_rows(piece.address, y.rows, y.cols), {}, rows_of(y),
              Work::embedding);
}

void CardDevice::reset_state(StateCache& cache, int32_t slot) {
  const auto& slots = static_cast<VulkanStateCache&>(cache);
  steps_->begin();
  steps_->fill(slots.slot(slot), slots.stored_slot_bytes(), 0, Work::copies);
}

void CardDevice::copy_state(StateCache& cache, int32_t from, int32_t to) {
  const auto& slots = static_cast<VulkanStateCache&>(cache);
  EVENER_ASSERT(from != to);
  steps_->begin();
  steps_->copy(slots.slot(from), slots.slot(to), slots.stored_slot_bytes(), Work::copies);
}

void CardDevice::read_page(const KvCache& cache, int32_t page, std::span<std::byte> bytes) {
  const auto& pages = static_cast<const VulkanKvCache&>(cache);
  EVENER_ASSERT(page >= 0);
  EVENER_ASSERT(bytes.size() == pages.stored_page_bytes());
  const size_t part = VulkanKvCache::page_bytes(cache.shape());
  steps_->begin();
  // All layers into one piece.
  std::vector<const std::byte*> homes;
  for (size_t layer = 0; layer < cache.shape().num_layers; ++layer) {
    const Place from = place_in(pages.region(), pages.offset_of(layer, size_t(page)));
    homes.push_back(steps_->take_home(from, part));
  }
  const bool is_done = bool(steps_->finish());
  for (size_t layer = 0; layer < homes.size(); ++layer) {
    std::byte* const to = bytes.data() + layer * part;
    if (is_done && homes[layer] != nullptr) {
      std::memcpy(to, homes[layer], part);
    } else {
      std::memset(to, 0, part);
    }
  }
}

void CardDevice::write_page(KvCache& cache, int32_t page, std::span<const std::byte> bytes) {
  const auto& pages = static_cast<VulkanKvCache&>(cache);
  EVENER_ASSERT(page >= 0);
  EVENER_ASSERT(bytes.size() == pages.stored_page_bytes());
  const size_t part = VulkanKvCache::page_bytes(cache.shape());
  for (size_t layer = 0; layer < cache.shape().num_layers; ++layer) {
    write_bytes(bytes.subspan(layer * part, part),
                place_in(pages.region(), pages.offset_of(layer, size_t(page))), Work::copies);
  }
}

void CardDevice::read_state(const StateCache& cache, int32_t slot, std::span<std::byte> bytes) {
  const auto& slots = static_cast<const VulkanStateCache&>(cache);
  EVENER_ASSERT(bytes.size() == slots.stored_slot_bytes());
  read_bytes(slots.slot(slot), bytes);
}

void CardDevice::write_state(StateCache& cache, int32_t slot, std::span<const std::byte> bytes) {
  const auto& slots = static_cast<VulkanStateCache&>(cache);
  EVENER_ASSERT(bytes.size() == slots.stored_slot_bytes());
  write_bytes(bytes, slots.slot(slot), Work::copies);
}

}  // namespace evener::device::vulkan
