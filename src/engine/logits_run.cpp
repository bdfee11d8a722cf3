#include "engine/logits_run.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/load_ranks.h"

namespace evener::engine {
namespace {

constexpr size_t kPageSize = 64;
constexpr int32_t kSlot = 0;

std::vector<int32_t> counting(size_t from, size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), static_cast<int32_t>(from));
  return values;
}

size_t num_pages(const LogitsRunOptions& options) {
  return (options.num_tokens_max + kPageSize - 1) / kPageSize;
}

Status check_caches(const gguf::File& file, const LogitsRunOptions& options) {
  ASSIGN_OR_RETURN(const model::Config config, model::read_config(file));
  return model::kv_cache_shape(config, {.kv_type = options.kv_type}).check();
}

}  // namespace

Result<LogitsRun> LogitsRun::create(std::shared_ptr<const gguf::File> file, const RankPlan& plan,
                                    const LogitsRunOptions& options,
                                    const model::LoadProgress& progress) {
  RETURN_IF_ERROR(check_caches(*file, options));
  ASSIGN_OR_RETURN(
      RankSeats seats,
      load_ranks(file, plan, {.num_threads = options.num_threads, .timing = options.timing},
                 progress));
  return create(std::move(seats), options);
}

Result<LogitsRun> LogitsRun::create(const gguf::File& file, device::Device& device,
                                    const LogitsRunOptions& options,
                                    const model::LoadProgress& progress) {
  RETURN_IF_ERROR(check_caches(file, options));
  ASSIGN_OR_RETURN(auto model, model::load_model(file, device, progress));
  RankSeat seat;
  seat.device_name = device.info().name;
  seat.device = std::shared_ptr<device::Device>(std::shared_ptr<void>(), &device);  // the caller's
  seat.model = std::move(model);
  return create({.layout = {}, .seats = {std::move(seat)}}, options);
}

Result<LogitsRun> LogitsRun::create(RankSeats seats, const LogitsRunOptions& options) {
  const model::MemoryPlan memory{.num_rows = options.chunk,
                                 .num_logit_rows = options.chunk,
                                 .num_pages = num_pages(options),
                                 .page_size = kPageSize,
                                 .num_slots = 1,
                                 .kv_type = options.kv_type};
  const model::Config config = seats.seats[0].model->whole();
  std::vector<RankTimes> times = times_of(seats);
  ParallelOptions parallel;
  parallel.peer = options.peer;
  ASSIGN_OR_RETURN(auto ranks,
                   make_ranks(std::move(seats), {.memory = memory, .parallel = parallel}));
  return LogitsRun(options, config, std::move(times), std::move(ranks));
}

LogitsRun::LogitsRun(const LogitsRunOptions& options, model::Config config,
                     std::vector<RankTimes> times, std::unique_ptr<Ranks> ranks)
    : options_(options),
      config_(std::move(config)),
      times_(std::move(times)),
      ranks_(std::move(ranks)),
      pages_(counting(0, num_pages(options))) {
  restart();
}

void LogitsRun::restart() {
  position_ = 0;
  ranks_->clear_state(kSlot);
}

void LogitsRun::restart_times() {
  for (const RankTimes& rank : times_) rank.times->restart();
}

WorkReport LogitsRun::report() {
  WorkReport report;
  report.expert_uses = ranks_->expert_uses();  // waits for all that was asked before
  for (const RankTimes& rank : times_) rank.times->stop();
  if (times_.size() == 1) report.times = *times_[0].times;
  if (times_.size() > 1) report.ranks = times_;
  return report;
}

Status LogitsRun::check(std::span<const int32_t> tokens) const {
  const auto refuse = [](std::string why) {
    return Error{.code = Code::invalid_argument,
                 .doing = "compute logits",
                 .where = {},
                 .why = std::move(why),
                 .remedy = {}};
  };
  for (const int32_t token : tokens) {
    if (token < 0 || static_cast<size_t>(token) >= config_.vocab_size) {
      return refuse("token " + std::to_string(token) + " is not in the vocabulary of " +
                    std::to_string(config_.vocab_size));
    }
  }
  if (tokens.size() > options_.num_tokens_max - position_) {
    return refuse(std::to_string(position_ + tokens.size()) + " tokens are more than the " +
                  std::to_string(options_.num_tokens_max) + " that the run was made for");
  }
  return {};
}

// Chunk after chunk, as many at a time as the ranks have stages.
Result<void> LogitsRun::feed(std::span<const int32_t> tokens, const Row& row, size_t first_row) {
  RETURN_IF_ERROR(check(tokens));
  std::deque<Chunk> in_flight;
  for (size_t done = 0; done < tokens.size() || !in_flight.empty();) {
    if (done == tokens.size() || in_flight.size() == ranks_->depth()) {
      const Chunk oldest = in_flight.front();
      in_flight.pop_front();
      RETURN_IF_ERROR(end(oldest, row));
      continue;
    }
    const size_t count = std::min(options_.chunk, tokens.size() - done);
    const size_t skipped = std::min(count, first_row - std::min(first_row, done));
    begin(tokens.subspan(done, count), skipped);
    in_flight.push_back({.first_token = done, .num_tokens = count, .num_skipped = skipped});
    done += count;
  }
  return {};
}

void LogitsRun::begin(std::span<const int32_t> tokens, size_t first_row) {
  const std::vector<int32_t> positions = counting(position_, tokens.size());
  const std::vector<int32_t> rows = counting(first_row, tokens.size() - first_row);
  const device::Slice slice{.first_row = 0,
                            .num_rows = tokens.size(),
                            .first_position = position_,
                            .pages = pages_,
                            .state_slot = kSlot};
  ranks_->begin({.input = {.tokens = tokens,
                           .positions = positions,
                           .batch = {.slices = {&slice, 1}, .num_rows = tokens.size()},
                           .logit_rows = rows}});
  position_ += tokens.size();
}

Status LogitsRun::end(const Chunk& chunk, const Row& row) {
  ASSIGN_OR_RETURN(const PassResult* const result, ranks_->end());
  const size_t vocab_size = config_.vocab_size;
  for (size_t i = chunk.num_skipped; i < chunk.num_tokens; ++i) {
    row(chunk.first_token + i, result->rows(i - chunk.num_skipped, 1, vocab_size).logits);
  }
  return {};
}

}  // namespace evener::engine
