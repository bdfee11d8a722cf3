#include "simulate/fake_device.h"

#include <algorithm>
#include <utility>

namespace evener::simulate {

void FakeStore::put(const cache::EntryKey& key, StoredBytes bytes) {
  if (!wants(key)) return;
  if (order_.size() == options_.num_entries_max) {
    entries_.erase(order_.front());
    order_.erase(order_.begin());
  }
  order_.push_back(key);
  entries_.emplace(key, std::move(bytes));
}

std::optional<StoredBytes> FakeStore::get(const cache::EntryKey& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return {};  // pushed out since it was promised
  if (std::uniform_real_distribution<>()(random_) >= options_.damage) return it->second;
  entries_.erase(it);
  std::erase(order_, key);
  return {};
}

FakeDevice::FakeDevice(const Options& options)
    : options_(options), pages_(options.num_pages), states_(options.num_state_slots) {}

bool FakeDevice::execute(const cache::Transfer& transfer, FakeStore& store) {
  using Kind = cache::Transfer::Kind;
  if (transfer.kind == Kind::save_page) {
    store.put(transfer.key, {.page = page(transfer.from)});
  } else if (transfer.kind == Kind::save_state) {
    store.put(transfer.key, {.page = {}, .state = slot(transfer.from)});
  } else if (transfer.is_load()) {
    const auto bytes = store.get(transfer.key);
    if (!bytes) return false;
    write(transfer, *bytes);
  } else {
    write(transfer, {});
  }
  return true;
}

void FakeDevice::write(const cache::Transfer& transfer, const StoredBytes& bytes) {
  using Kind = cache::Transfer::Kind;
  const Sabotage sabotage = options_.sabotage;
  if (transfer.kind == Kind::clear_state) {
    if (sabotage != Sabotage::skip_state_clears) slot(transfer.to) = kClearState;
  } else if (transfer.kind == Kind::copy_state) {
    if (sabotage != Sabotage::skip_state_copies) slot(transfer.to) = slot(transfer.from);
  } else if (transfer.kind == Kind::load_page) {
    if (sabotage != Sabotage::skip_page_loads) page(transfer.to) = bytes.page;
  } else if (transfer.kind == Kind::load_state) {
    if (sabotage != Sabotage::skip_state_loads) slot(transfer.to) = bytes.state;
  }
}

void FakeDevice::lose_all() {
  for (FakePage& page : pages_) page.entries.assign(options_.page_size, 0);
  for (uint64_t& state : states_) state = 0;
}

TokenId FakeDevice::run(const Rows& rows) {
  size_t position = rows.first_position;
  uint64_t entry = first_entry(rows.salt);
  if (position > 0) {
    const FakePage& before = page(rows.pages[(position - 1) / options_.page_size]);
    const size_t offset = (position - 1) % options_.page_size;
    entry = offset < before.entries.size() ? before.entries[offset] : 0;
  }
  for (const TokenId token : rows.tokens) {
    entry = next_entry(entry, token);
    std::vector<uint64_t>& entries = page(rows.pages[position / options_.page_size]).entries;
    entries.resize(position % options_.page_size);
    entries.push_back(entry);
    ++position;
    if (rows.state_slot >= 0) slot(rows.state_slot) = next_state(slot(rows.state_slot), token);
  }
  const uint64_t sum = entry_sum(rows.pages, position).value_or(0);
  return token_after(sum, rows.state_slot >= 0 ? state(rows.state_slot) : 0);
}

std::optional<uint64_t> FakeDevice::entry_sum(std::span<const int32_t> pages,
                                              size_t num_positions) const {
  uint64_t sum = 0;
  for (size_t begin = 0; begin < num_positions; begin += options_.page_size) {
    const std::vector<uint64_t>& entries = page(pages[begin / options_.page_size]).entries;
    const size_t count = std::min(options_.page_size, num_positions - begin);
    if (entries.size() < count) return {};
    for (size_t i = 0; i < count; ++i) sum += summand(entries[i], begin + i);
  }
  return sum;
}

}  // namespace evener::simulate
