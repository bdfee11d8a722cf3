#include "cache/entry_writer.h"

#include <system_error>
#include <utility>

#include "base/assert.h"

namespace evener::cache {

Result<std::unique_ptr<EntryWriter>> EntryWriter::start(const EntryFolder& folder,
                                                        const ModelId& model,
                                                        size_t queue_bytes_max) {
  auto writer = std::unique_ptr<EntryWriter>(new EntryWriter(folder, model, queue_bytes_max));
  try {
    writer->thread_ = std::thread([object = writer.get()] { object->work(); });
  } catch (const std::system_error& error) {
    return Error{.code = Code::unavailable,
                 .doing = "start the thread that writes cache entries",
                 .where = {},
                 .why = error.what(),
                 .remedy = {}};
  }
  return writer;
}

EntryWriter::~EntryWriter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool EntryWriter::has_room(size_t size_bytes) const {
  const std::lock_guard lock(mutex_);
  if (queue_bytes_ == 0) return true;
  return queue_bytes_ < queue_bytes_max_ && size_bytes <= queue_bytes_max_ - queue_bytes_;
}

uint64_t EntryWriter::write(const EntryKey& key, EntryBytes bytes) {
  EVENER_ASSERT(bytes);
  return push({.id = entry_id(model_, key), .key = key, .bytes = std::move(bytes)});
}

void EntryWriter::remove(const EntryId& id) { push({.id = id, .key = {}, .bytes = {}}); }

uint64_t EntryWriter::push(Job job) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = job.number = ++last_number_;
    queue_bytes_ += job.bytes.size_bytes;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
  return number;
}

std::vector<EntryWriter::Written> EntryWriter::take_written() {
  const std::lock_guard lock(mutex_);
  return std::exchange(written_, {});
}

void EntryWriter::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty(); });
}

void EntryWriter::work() noexcept {
  while (const auto job = next_job()) run(*job);
}

std::optional<EntryWriter::Job> EntryWriter::next_job() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
  if (jobs_.empty()) return std::nullopt;
  return jobs_.front();
}

void EntryWriter::run(const Job& job) {
  Status status;
  if (job.bytes) {
    status = folder_.write(model_, job.key, job.bytes.span());
  } else {
    folder_.remove(job.id);
  }
  {
    const std::lock_guard lock(mutex_);
    queue_bytes_ -= job.bytes.size_bytes;
    jobs_.pop_front();
    if (job.bytes) written_.push_back({job.number, job.id, std::move(status)});
  }
  changed_.notify_all();
}

}  // namespace evener::cache
