#include "cache/tiers.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace evener::cache {
namespace {

constexpr uint64_t kBookkeepingBytes = 256;  // of an entry in memory, beside its bytes

}  // namespace

std::unique_ptr<Tiers> Tiers::create(const TierOptions& options,
                                     const std::function<void(double)>& progress) {
  auto tiers = std::unique_ptr<Tiers>(new Tiers(options));
  if (options.disk.folder.empty()) return tiers;
  auto disk = DiskTier::open(options.disk, progress);
  if (disk) {
    tiers->disk_ = *std::move(disk);
  } else {
    log::warning("{}: going on without a cache on disk", to_string(disk.error()));
  }
  return tiers;
}

bool Tiers::fits_memory(uint64_t size_bytes) const {
  return kBookkeepingBytes <= memory_bytes_max_ &&
         size_bytes <= memory_bytes_max_ - kBookkeepingBytes;
}

bool Tiers::contains(const EntryKey& key) const {
  return memory_.contains(key) || (disk_ && disk_->contains(key));
}

bool Tiers::wants(const EntryKey& key) const {
  if (contains(key)) return false;
  return fits_memory(0) || (disk_ && disk_->wants(key));
}

void Tiers::put(const EntryKey& key, size_t size_bytes,
                FunctionRef<bool(std::span<std::byte>)> fill, WhenBusy when_busy) {
  if (contains(key)) return;
  const bool disk_wants = disk_ && disk_->wants(key, size_bytes);
  if (!disk_wants && !fits_memory(size_bytes)) return;
  EntryBytes bytes = EntryBytes::allocate(size_bytes);
  if (!bytes || !fill(bytes.span())) return;
  if (disk_wants) disk_->put(key, bytes, when_busy);
  keep(key, std::move(bytes));
}

// In memory, if it fits at all. What leaves has a second chance to be written: the disk may have
// been too busy for it.
void Tiers::keep(const EntryKey& key, EntryBytes bytes) {
  if (!fits_memory(bytes.size_bytes)) return;
  const uint64_t size = bytes.size_bytes + kBookkeepingBytes;
  while (memory_.size_bytes() + size > memory_bytes_max_) {
    const auto& oldest = memory_.oldest();
    if (disk_) disk_->put(oldest.key, oldest.value, WhenBusy::drop);
    memory_.erase(EntryKey(oldest.key));
  }
  memory_.insert(key, size, std::move(bytes));
}

EntryBytes Tiers::get(const EntryKey& key, size_t size_bytes) {
  if (const auto* const entry = memory_.find(key)) {
    EVENER_ASSERT(entry->value.size_bytes == size_bytes);
    memory_.touch(key);
    if (disk_) disk_->touch(key);
    ++counts_.num_memory_hits;
    return entry->value;
  }
  EntryBytes bytes = disk_ ? disk_->get(key, size_bytes) : EntryBytes{};
  if (!bytes) {
    ++counts_.num_misses;
    return {};
  }
  ++counts_.num_disk_hits;
  keep(key, bytes);
  return bytes;
}

void Tiers::erase(const EntryKey& key) {
  memory_.erase(key);
  if (disk_) disk_->erase(key);
}

void Tiers::retire() {
  memory_bytes_max_ = 0;
  memory_.clear();
  disk_.reset();
}

void Tiers::finish() {
  if (!disk_) return;
  for (const auto& entry : memory_.entries()) {
    disk_->put(entry.key, entry.value, WhenBusy::wait);
  }
  disk_->finish();
}

TierStats Tiers::stats() const {
  TierStats stats = counts_;
  stats.num_in_memory = memory_.size();
  stats.memory_bytes = memory_.size_bytes();
  stats.has_disk = disk_ != nullptr;
  if (disk_) stats.disk = disk_->stats();
  return stats;
}

}  // namespace evener::cache
