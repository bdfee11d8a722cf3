#include <fmt/format.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "bench/store.h"
#include "bench/store/database.h"
#include "bench/store/rows.h"
#include "bench/store/schema.h"

namespace evener::bench {
namespace {

constexpr size_t kQueueBytesMax = size_t{256} << 20;
constexpr std::chrono::seconds kPatience{120};

using Item = std::variant<RequestRecord, Value, Finding, TelemetryRow, CellRecord, RunState>;

size_t bytes_of(const Item& item) {
  const auto* const request = std::get_if<RequestRecord>(&item);
  if (request == nullptr) return sizeof(Item);
  return sizeof(Item) + request->events.size() * sizeof(OutputEvent) + request->text.size() +
         request->tool_calls.size() + request->error.size();
}

Error recording_error(const std::string& file, Code code, std::string why) {
  return {.code = code,
          .doing = "record results",
          .where = file,
          .why = std::move(why),
          .remedy = "what was recorded before is kept"};
}

}  // namespace

// The queue and its thread. Only the thread uses the database.
class StoreRecorder::Writer {
 public:
  Writer(std::unique_ptr<Database> database, RowWriter rows, std::string run)
      : database_(std::move(database)),
        rows_(std::move(rows)),
        run_(std::move(run)),
        thread_([this] { work(); }) {}

  ~Writer() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      retry_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void put(Item item) {
    const size_t bytes = bytes_of(item);
    {
      const std::lock_guard lock(mutex_);
      if (bytes > kQueueBytesMax - waiting_bytes_) {
        ++num_lost_;
        return;
      }
      waiting_bytes_ += bytes;
      ++num_put_;
      queue_.push_back(std::move(item));
    }
    wake_.notify_one();
  }

  // Waits until all that was put is on the disk, or cannot be brought there.
  Status flush() {
    std::unique_lock lock(mutex_);
    const uint64_t wanted = num_put_;
    const uint64_t failures = num_failures_;
    retry_ = true;
    wake_.notify_one();
    const bool answered = done_.wait_for(
        lock, kPatience, [&] { return num_written_ >= wanted || num_failures_ > failures; });
    if (!answered) {
      return recording_error(
          database_->file(), Code::unavailable,
          fmt::format("the disk has taken nothing for {} seconds", kPatience.count()));
    }
    if (num_written_ < wanted) return failure_;
    if (const uint64_t lost = std::exchange(num_lost_, 0); lost > 0) {
      return recording_error(
          database_->file(), Code::unavailable,
          fmt::format("{} records are lost: the disk took nothing while they came", lost));
    }
    if (refused_.empty()) return {};
    return recording_error(database_->file(), Code::internal, std::exchange(refused_, {}));
  }

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): std::visit throws for a variant without a value
  void work() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || retry_ || (!failed_ && !queue_.empty()); });
      retry_ = false;
      batch_.splice(batch_.end(), queue_);
      if (!batch_.empty()) write_batch(lock);
      if (stop_ && (failed_ || queue_.empty())) return;
    }
  }

  // Unlocked while it writes.
  void write_batch(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    std::string refused;
    const Status written = write_items(refused);
    size_t bytes = 0;
    for (const Item& item : batch_) bytes += bytes_of(item);
    lock.lock();
    failed_ = !written;
    if (written) {
      num_written_ += batch_.size();
      waiting_bytes_ -= bytes;
      batch_.clear();
      if (!refused.empty()) refused_ = std::move(refused);
    } else {
      ++num_failures_;
      failure_ = written.error();
    }
    done_.notify_all();
  }

  // All of the batch in one commit. An item that breaks a rule of the schema is left out.
  Status write_items(std::string& refused) {
    return database_->in_transaction([&]() -> Status {
      for (const Item& item : batch_) {
        const Status added = std::visit([&](const auto& record) { return add(record); }, item);
        if (added) continue;
        if (!database_->is_constraint()) return added;
        refused = added.error().why;
      }
      return {};
    });
  }

  template <class Record>
  Status add(const Record& record) {
    return rows_.add(record);
  }

  Status add(const CellRecord& cell) {
    RETURN_IF_ERROR(rows_.add(cell));
    const Part part = {.run = run_, .cell = cell.key};
    ASSIGN_OR_RETURN(const auto requests, read_requests(*database_, part));
    ASSIGN_OR_RETURN(const auto values, read_values(*database_, part));
    return rows_.add(cell.key, cell_figures(cell, requests, values));
  }

  const std::unique_ptr<Database> database_;
  RowWriter rows_;
  const std::string run_;
  std::list<Item> batch_;  // of the thread: what is being written, or failed to be

  std::mutex mutex_;
  std::condition_variable wake_;  // of the thread
  std::condition_variable done_;  // of those who flush
  std::list<Item> queue_;
  size_t waiting_bytes_ = 0;  // of queue and batch
  uint64_t num_put_ = 0;
  uint64_t num_written_ = 0;
  uint64_t num_failures_ = 0;
  uint64_t num_lost_ = 0;
  bool failed_ = false;  // the last commit; tried again when somebody flushes
  bool retry_ = false;
  bool stop_ = false;
  Error failure_;
  std::string refused_;
  std::thread thread_;  // last: it uses all of the above
};

std::string make_run_id(std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}-{:04x}", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     std::random_device()() & 0xffff);
}

StoreRecorder::StoreRecorder(RunHeader header, std::unique_ptr<Writer> writer)
    : header_(std::move(header)), writer_(std::move(writer)) {}

StoreRecorder::~StoreRecorder() = default;

Result<std::unique_ptr<StoreRecorder>> StoreRecorder::create(const std::filesystem::path& file,
                                                             RunHeader header) {
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    return Error{.code = Code::permission_denied,
                 .doing = "make the store of results",
                 .where = file.parent_path().string(),
                 .why = error.message(),
                 .remedy = "name another file with --store"};
  }
  ASSIGN_OR_RETURN(Database opened, open_store_to_write(file));
  auto database = std::make_unique<Database>(std::move(opened));
  ASSIGN_OR_RETURN(RowWriter rows, RowWriter::of(*database, header.id));
  bool is_taken = false;
  const Status written = database->in_transaction([&] {
    const Status added = rows.add(header);
    is_taken = !added && database->is_constraint();
    return added;
  });
  if (is_taken) {
    return recording_error(file.string(), Code::invalid_argument,
                           fmt::format("it has a run '{}'", header.id));
  }
  RETURN_IF_ERROR(written);
  auto writer = std::make_unique<Writer>(std::move(database), std::move(rows), header.id);
  return std::unique_ptr<StoreRecorder>(new StoreRecorder(std::move(header), std::move(writer)));
}

void StoreRecorder::request(RequestRecord record) { writer_->put(std::move(record)); }
void StoreRecorder::value(Value value) { writer_->put(std::move(value)); }
void StoreRecorder::finding(Finding finding) { writer_->put(std::move(finding)); }

void StoreRecorder::telemetry(telemetry::Sample sample) {
  const Nanoseconds at = sample.at - start_;
  writer_->put(TelemetryRow{.at = at, .sample = std::move(sample)});
}

Status StoreRecorder::end_cell(CellRecord cell) {
  writer_->put(std::move(cell));
  return writer_->flush();
}

Status StoreRecorder::finish(RunState state) {
  writer_->put(state);
  return writer_->flush();
}

}  // namespace evener::bench
