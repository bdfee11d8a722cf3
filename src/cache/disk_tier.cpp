#include "cache/disk_tier.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace evener::cache {
namespace {

constexpr uint64_t kFileBlockBytes = 4096;  // files take whole ones, nearly everywhere
constexpr double kMebi = 1024.0 * 1024.0;

uint64_t on_disk(uint64_t file_bytes) {
  return (file_bytes + kFileBlockBytes - 1) / kFileBlockBytes * kFileBlockBytes;
}

uint64_t on_disk_with_header(uint64_t payload_bytes) {
  return on_disk(payload_bytes + kEntryHeaderBytes);
}

}  // namespace

Result<std::unique_ptr<DiskTier>> DiskTier::open(const DiskTierOptions& options,
                                                 const std::function<void(double)>& progress) {
  ASSIGN_OR_RETURN(auto folder, EntryFolder::open(options.folder));
  auto tier = std::unique_ptr<DiskTier>(new DiskTier(options, std::move(folder)));
  RETURN_IF_ERROR(tier->start(options, progress));
  return tier;
}

DiskTier::DiskTier(const DiskTierOptions& options, std::unique_ptr<EntryFolder> folder)
    : model_(model_id(options.identity)),
      bytes_max_(options.bytes_max),
      folder_(std::move(folder)) {}

Status DiskTier::start(const DiskTierOptions& options,
                       const std::function<void(double)>& progress) {
  ASSIGN_OR_RETURN(const EntryFolder::Contents contents, folder_->scan(model_, progress));
  ASSIGN_OR_RETURN(writer_, EntryWriter::start(*folder_, model_, options.queue_bytes_max));
  for (const EntryFolder::File& file : contents.files) {
    files_.insert(file.id, on_disk(file.file_bytes),
                  {.waiting = {}, .write_number = 0, .foreign = file.foreign});
    num_foreign_ += file.foreign ? 1 : 0;
  }
  report(contents);
  make_room(0);
  return {};
}

void DiskTier::report(const EntryFolder::Contents& contents) const {
  const std::string folder = folder_->path().string();
  log::info("cache folder {}: {} entries of this model, {:.1f} of {:.1f} MiB in use", folder,
            files_.size() - num_foreign_, double(files_.size_bytes()) / kMebi,
            double(bytes_max_) / kMebi);
  if (num_foreign_ > 0) {
    log::info("cache folder {}: {} entries of other models or versions", folder, num_foreign_);
  }
  if (contents.num_unfinished > 0) {
    log::info("cache folder {}: {} unfinished files removed", folder, contents.num_unfinished);
  }
  if (contents.num_damaged > 0) {
    log::warning("cache folder {}: {} damaged entries removed: {}", folder, contents.num_damaged,
                 contents.damage_example);
  }
  if (contents.num_strange > 0) {
    log::warning("cache folder {}: {} files are called like entries but are none", folder,
                 contents.num_strange);
  }
}

bool DiskTier::contains(const EntryKey& key) const {
  return files_.contains(entry_id(model_, key));
}

bool DiskTier::wants(const EntryKey& key, uint64_t payload_bytes) const {
  if (!counts_.writes || payload_bytes > kEntryPayloadBytesMax) return false;
  return on_disk_with_header(payload_bytes) <= bytes_max_ && !contains(key);
}

void DiskTier::put(const EntryKey& key, const EntryBytes& bytes, WhenBusy when_busy) {
  take_written();
  if (!wants(key, bytes.size_bytes)) return;
  if (!writer_->has_room(bytes.size_bytes)) {
    if (when_busy == WhenBusy::drop) {
      ++counts_.num_dropped;
      return;
    }
    finish();
    if (!counts_.writes) return;
  }
  const uint64_t size = on_disk_with_header(bytes.size_bytes);
  make_room(size);
  const uint64_t number = writer_->write(key, bytes);
  files_.insert(entry_id(model_, key), size,
                {.waiting = bytes, .write_number = number, .foreign = false});
}

// Files are removed before the next one is written: the writer keeps the order.
void DiskTier::make_room(uint64_t size_bytes) {
  while (!files_.empty() && files_.size_bytes() + size_bytes > bytes_max_) {
    const auto& oldest = files_.oldest();
    num_foreign_ -= oldest.value.foreign ? 1 : 0;
    ++counts_.num_evicted;
    writer_->remove(oldest.key);
    files_.erase(EntryId(oldest.key));
  }
}

EntryBytes DiskTier::get(const EntryKey& key, uint64_t payload_bytes) {
  take_written();
  const EntryId id = entry_id(model_, key);
  const auto* const file = files_.find(id);
  if (file == nullptr) return {};
  if (file->value.waiting) {
    EVENER_ASSERT(file->value.waiting.size_bytes == payload_bytes);
    files_.touch(id);
    return file->value.waiting;
  }
  auto bytes = folder_->read(model_, key, payload_bytes);
  if (!bytes) {
    forget(id, bytes.error());
    return {};
  }
  touch(key);
  return *std::move(bytes);
}

void DiskTier::touch(const EntryKey& key) {
  const EntryId id = entry_id(model_, key);
  if (!files_.contains(id)) return;
  files_.touch(id);
  folder_->touch(id);
}

// An entry that could not be read, and why.
void DiskTier::forget(const EntryId& id, const Error& error) {
  if (folder_->is_gone() || error.code == Code::unavailable) return give_up(error);
  if (counts_.num_failed_reads++ == 0) {
    log::warning("{} (computed again; further ones are not reported)", to_string(error));
  }
  files_.erase(id);
  if (error.code == Code::corrupt) writer_->remove(id);
}

void DiskTier::give_up(const Error& error) {
  log::warning("{}: the cache folder is no longer used", to_string(error));
  counts_.writes = false;
  files_.clear();
  num_foreign_ = 0;
}

void DiskTier::erase(const EntryKey& key) {
  take_written();
  const EntryId id = entry_id(model_, key);
  if (files_.erase(id)) writer_->remove(id);
}

void DiskTier::finish() {
  writer_->finish();
  take_written();
}

void DiskTier::take_written() {
  for (const EntryWriter::Written& written : writer_->take_written()) {
    auto* const file = files_.find(written.id);
    const bool is_ours = file != nullptr && file->value.write_number == written.number;
    if (written.status) {
      ++counts_.num_written;
      if (is_ours) file->value.waiting = {};
      continue;
    }
    if (is_ours) files_.erase(written.id);
    if (!std::exchange(counts_.writes, false)) continue;
    if (folder_->is_gone()) {
      give_up(written.status.error());
    } else {
      log::warning("{}: the cache folder is only read from now on",
                   to_string(written.status.error()));
    }
  }
}

DiskTierStats DiskTier::stats() const {
  DiskTierStats stats = counts_;
  stats.num_entries = files_.size() - num_foreign_;
  stats.num_foreign = num_foreign_;
  stats.bytes = files_.size_bytes();
  return stats;
}

}  // namespace evener::cache
