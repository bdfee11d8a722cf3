#include "engine/logits_run.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace evener::engine {
namespace {

constexpr size_t kPageSize = 64;
constexpr int32_t kSlot = 0;

std::vector<int32_t> counting(size_t from, size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), static_cast<int32_t>(from));
  return values;
}

}  // namespace

Result<LogitsRun> LogitsRun::create(const gguf::File& file, device::Device& device,
                                    const LogitsRunOptions& options,
                                    const model::LoadProgress& progress) {
  const model::MemoryPlan plan{.num_rows = options.chunk,
                               .num_logit_rows = options.chunk,
                               .num_pages = (options.num_tokens_max + kPageSize - 1) / kPageSize,
                               .page_size = kPageSize,
                               .num_slots = 1,
                               .kv_type = options.kv_type};
  ASSIGN_OR_RETURN(const model::Config config, model::read_config(file));
  RETURN_IF_ERROR(model::kv_cache_shape(config, plan).check());
  ASSIGN_OR_RETURN(auto model, model::load_model(file, device, progress));
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(device, *model, plan));
  return LogitsRun(device, options, std::move(model), std::move(memory));
}

LogitsRun::LogitsRun(device::Device& device, const LogitsRunOptions& options,
                     std::unique_ptr<model::Model> model, model::RankMemory memory)
    : device_(&device),
      options_(options),
      model_(std::move(model)),
      memory_(std::move(memory)),
      pages_(counting(0, (options.num_tokens_max + kPageSize - 1) / kPageSize)) {
  restart();
}

void LogitsRun::restart() {
  position_ = 0;
  if (memory_.state) device_->reset_state(*memory_.state, kSlot);
}

Result<void> LogitsRun::feed(std::span<const int32_t> tokens, const Row& row, size_t first_row) {
  const auto refuse = [](std::string why) {
    return Error{.code = Code::invalid_argument,
                 .doing = "compute logits",
                 .where = {},
                 .why = std::move(why),
                 .remedy = {}};
  };
  const size_t vocab_size = config().vocab_size;
  for (const int32_t token : tokens) {
    if (token < 0 || static_cast<size_t>(token) >= vocab_size) {
      return refuse("token " + std::to_string(token) + " is not in the vocabulary of " +
                    std::to_string(vocab_size));
    }
  }
  if (tokens.size() > options_.num_tokens_max - position_) {
    return refuse(std::to_string(position_ + tokens.size()) + " tokens are more than the " +
                  std::to_string(options_.num_tokens_max) + " that the run was made for");
  }
  for (size_t done = 0; done < tokens.size(); done += options_.chunk) {
    const size_t count = std::min(options_.chunk, tokens.size() - done);
    const size_t skipped = std::min(count, first_row - std::min(first_row, done));
    run_chunk(tokens.subspan(done, count), skipped);
    for (size_t i = skipped; i < count; ++i)
      row(done + i, std::span(logits_).subspan((i - skipped) * vocab_size, vocab_size));
  }
  return {};
}

void LogitsRun::run_chunk(std::span<const int32_t> tokens, size_t first_row) {
  const std::vector<int32_t> positions = counting(position_, tokens.size());
  const std::vector<int32_t> rows = counting(first_row, tokens.size() - first_row);
  const device::Slice slice{.first_row = 0,
                            .num_rows = tokens.size(),
                            .first_position = position_,
                            .pages = pages_,
                            .state_slot = kSlot};
  const model::PassInput input{.tokens = tokens,
                               .positions = positions,
                               .batch = {.slices = {&slice, 1}, .num_rows = tokens.size()},
                               .logit_rows = rows};
  const parallel::RankComms comms = parallel::RankComms::solo();
  model::Pass pass(*device_, comms, memory_, input);
  const model::Pass::Scope scope(pass);
  const device::Tensor logits = model_->forward(pass);
  logits_.resize(rows.size() * config().vocab_size);
  if (!rows.empty()) device_->read(logits, logits_);
  position_ += tokens.size();
}

}  // namespace evener::engine
