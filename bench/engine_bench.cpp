// Prefill and decode speed of one model on one device, without server and sampling, in the way that
// the peer's bench measures: random tokens, one untimed round, batches made outside the clock.
//
//   engine_bench MODEL [--pp 512] [--tg 64] [--depth 0] [--reps 3] [--threads N] [--device cpu:0]
//                [--kv f16]
//
// Prints one JSON line: {"prefill":{"min","median","max"},"decode":{...}} in tokens a second.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/create_device.h"
#include "gguf/file.h"
#include "model/loader.h"

namespace evener {
namespace {

constexpr size_t kPageSize = 64;

struct Options {
  std::filesystem::path model;
  size_t num_prefill = 512;
  size_t num_decode = 64;
  size_t depth = 0;
  size_t reps = 3;
  size_t num_threads = 0;
  size_t chunk = 512;
  std::string device = "cpu:0";
  std::string kv = "f16";
};

struct Speeds {
  std::vector<double> tokens_per_s;

  std::string json() {
    std::ranges::sort(tokens_per_s);
    return fmt::format(R"({{"min":{:.3f},"median":{:.3f},"max":{:.3f}}})", tokens_per_s.front(),
                       tokens_per_s[tokens_per_s.size() / 2], tokens_per_s.back());
  }
};

// One sequence on one rank, whose last token's logits are read after every pass.
class Sequence {
 public:
  Sequence(device::Device& device, const model::Model& model, model::RankMemory& memory,
           size_t num_tokens_max)
      : device_(device),
        model_(model),
        memory_(memory),
        pages_((num_tokens_max + kPageSize - 1) / kPageSize),
        logits_(model.config().vocab_size) {
    std::iota(pages_.begin(), pages_.end(), 0);
  }

  void restart() {
    position_ = 0;
    if (memory_.state) device_.reset_state(*memory_.state, 0);
  }

  void run(std::span<const int32_t> tokens) {
    std::vector<int32_t> positions(tokens.size());
    std::iota(positions.begin(), positions.end(), static_cast<int32_t>(position_));
    const auto last = static_cast<int32_t>(tokens.size() - 1);
    const device::Slice slice{.first_row = 0,
                              .num_rows = tokens.size(),
                              .first_position = position_,
                              .pages = pages_,
                              .state_slot = 0};
    const model::PassInput input{.tokens = tokens,
                                 .positions = positions,
                                 .batch = {.slices = {&slice, 1}, .num_rows = tokens.size()},
                                 .logit_rows = {&last, 1}};
    const parallel::RankComms comms = parallel::RankComms::solo();
    model::Pass pass(device_, comms, memory_, input);
    const model::Pass::Scope scope(pass);
    device_.read(model_.forward(pass), logits_);
    position_ += tokens.size();
  }

 private:
  device::Device& device_;
  const model::Model& model_;
  model::RankMemory& memory_;
  std::vector<int32_t> pages_;
  std::vector<float> logits_;
  size_t position_ = 0;
};

// Tokens a second of reading `num_tokens` tokens in pieces of `step` behind `depth` others.
Speeds measure(const Options& options, Sequence& sequence, size_t vocab_size, size_t num_tokens,
               size_t step) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> draw(0, static_cast<int32_t>(vocab_size) - 1);
  std::vector<int32_t> tokens(options.depth + num_tokens);
  Speeds speeds;
  for (size_t rep = 0; rep <= options.reps; ++rep) {
    std::ranges::generate(tokens, [&] { return draw(random); });
    sequence.restart();
    const auto feed = [&](size_t from, size_t to, size_t count) {
      for (size_t at = from; at < to; at += count)
        sequence.run(std::span(tokens).subspan(at, std::min(count, to - at)));
    };
    feed(0, options.depth, options.chunk);
    const auto start = std::chrono::steady_clock::now();
    feed(options.depth, tokens.size(), step);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (rep > 0)
      speeds.tokens_per_s.push_back(static_cast<double>(num_tokens) /
                                    time.count());  // round 0 warms up
  }
  return speeds;
}

Result<void> run(const Options& options) {
  ASSIGN_OR_RETURN(const gguf::File file, gguf::File::open(options.model));
  ASSIGN_OR_RETURN(const auto device, device::create_device(options.device, options.num_threads));
  ASSIGN_OR_RETURN(const auto model, model::load_model(file, *device, {}));
  const size_t num_tokens_max = options.depth + std::max(options.num_prefill, options.num_decode);
  const model::MemoryPlan plan{.num_rows = options.chunk,
                               .num_logit_rows = 1,
                               .num_pages = (num_tokens_max + kPageSize - 1) / kPageSize,
                               .page_size = kPageSize,
                               .num_slots = 1,
                               .kv_type = *device::kv_type_from_name(options.kv)};
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(*device, *model, plan));
  Sequence sequence(*device, *model, memory, num_tokens_max);
  const size_t vocab_size = model->config().vocab_size;
  std::string line;
  if (options.num_prefill > 0) {
    line += R"("prefill":)" +
            measure(options, sequence, vocab_size, options.num_prefill, options.chunk).json();
  }
  if (options.num_decode > 0) {
    line += (line.empty() ? "" : ",") + std::string(R"("decode":)") +
            measure(options, sequence, vocab_size, options.num_decode, 1).json();
  }
  fmt::print("{{{}}}\n", line);
  return {};
}

}  // namespace
}  // namespace evener

int main(int argc, char** argv) {
  evener::Options options;
  CLI::App app("prefill and decode speed of one model");
  app.add_option("MODEL", options.model)->required();
  app.add_option("--pp", options.num_prefill);
  app.add_option("--tg", options.num_decode);
  app.add_option("--depth", options.depth);
  app.add_option("--reps", options.reps)->check(CLI::Range(1, 1000));
  app.add_option("--threads", options.num_threads);
  app.add_option("--chunk", options.chunk)->check(CLI::Range(1, 4096));
  app.add_option("--device", options.device);
  app.add_option("--kv", options.kv)->check(CLI::IsMember({"f32", "f16", "q8_0", "fp8"}));
  CLI11_PARSE(app, argc, argv);
  const auto status = evener::run(options);
  if (status) return 0;
  fmt::print(stderr, "engine_bench: {}\n", evener::to_string(status.error()));
  return 1;
}
