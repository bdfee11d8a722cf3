#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cache/entry_bytes.h"
#include "cache/entry_folder.h"

namespace evener::cache {

// A thread that writes and removes the entries of a folder in the order in which it was told.
class EntryWriter {
 public:
  // `folder` outlives it. At most `queue_bytes_max` wait to be written, or one larger entry. Error:
  // unavailable (the system gives no thread).
  static Result<std::unique_ptr<EntryWriter>> start(const EntryFolder& folder, const ModelId& model,
                                                    size_t queue_bytes_max);

  EntryWriter(const EntryWriter&) = delete;
  EntryWriter& operator=(const EntryWriter&) = delete;
  ~EntryWriter();  // when all is done

  bool has_room(size_t size_bytes) const;

  // What is written is named by the number that comes back. There is room for it.
  uint64_t write(const EntryKey& key, EntryBytes bytes);
  void remove(const EntryId& id);

  struct Written {
    uint64_t number = 0;
    EntryId id;
    Status status;
  };
  // Since the last call.
  std::vector<Written> take_written();

  // Waits until all is done.
  void finish();

 private:
  struct Job {
    uint64_t number = 0;
    EntryId id;
    EntryKey key;
    EntryBytes bytes;  // none: remove the file
  };

  EntryWriter(const EntryFolder& folder, const ModelId& model, size_t queue_bytes_max)
      : folder_(folder), model_(model), queue_bytes_max_(queue_bytes_max) {}
  uint64_t push(Job job);
  void work() noexcept;
  std::optional<Job> next_job();
  void run(const Job& job);

  const EntryFolder& folder_;
  const ModelId model_;
  const size_t queue_bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // the first one is being run
  size_t queue_bytes_ = 0;
  uint64_t last_number_ = 0;
  std::vector<Written> written_;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace evener::cache
