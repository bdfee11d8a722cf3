// What a second rank is good for: one rank of one core against two of one core each, sharing every
// layer (tp 2) or with layers of their own (2 stages, several passes in flight), in turns, so that
// all see the same machine.
//
//   streams_bench MODEL [--rounds 5] [--chunks 16] [--chunk 128] [--tokens 32]
//
// Reads a prompt of so many chunks, and decodes one and two streams of so many tokens: two in one
// batch where there is one pass at a time, one after the other where several may be in flight, and
// both ways on one rank. Prints the best of each in tokens per second, and how many times as fast
// as one rank.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "best_seconds.h"
#include "engine/load_ranks.h"
#include "gguf/file.h"
#include "pass_batch.h"

namespace evener {
namespace {

constexpr size_t kPageSize = 64;

struct Sizes {
  size_t rounds = 5;
  size_t num_chunks = 16;
  size_t chunk = 128;
  size_t num_tokens = 32;

  size_t length() const { return num_chunks * chunk; }
  size_t num_pages() const { return std::max(length(), num_tokens) / kPageSize + 1; }
};

// Passes in their order, of which so many may be under way: the first needs nothing of the second.
struct Work {
  std::string name;
  std::vector<bench::PassBatch> passes;
  size_t num_independent = 1;
  size_t num_tokens = 0;
};

Work prompt(const Sizes& sizes) {
  Work work{.name = "prefill", .passes = {}, .num_independent = sizes.num_chunks};
  for (size_t i = 0; i < sizes.num_chunks; ++i) {
    work.passes.emplace_back(sizes.num_pages()).add(0, i * sizes.chunk, sizes.chunk);
  }
  work.num_tokens = sizes.length();
  return work;
}

Work streams(const Sizes& sizes, std::string name, size_t num_streams, bool in_one_batch) {
  Work work{.name = std::move(name),
            .passes = {},
            .num_independent = in_one_batch ? 1 : num_streams,
            .num_tokens = num_streams * sizes.num_tokens};
  for (size_t position = 0; position < sizes.num_tokens; ++position) {
    for (size_t stream = 0; stream < num_streams; ++stream) {
      if (stream == 0 || !in_one_batch) work.passes.emplace_back(sizes.num_pages());
      work.passes.back().add(stream, position, 1);
    }
  }
  return work;
}

struct Way {
  std::string name;
  std::unique_ptr<engine::Ranks> ranks;
};

Status run_on(engine::Ranks& ranks, Work& work) {
  const size_t in_flight_max = std::min(ranks.depth(), work.num_independent);
  size_t num_in_flight = 0;
  for (bench::PassBatch& batch : work.passes) {
    if (num_in_flight == in_flight_max) {
      RETURN_IF_ERROR(ranks.end());
      --num_in_flight;
    }
    ranks.begin(batch.pass());
    ++num_in_flight;
  }
  for (; num_in_flight > 0; --num_in_flight) RETURN_IF_ERROR(ranks.end());
  return {};
}

// Best speed of each way.
Status measure(std::vector<Way>& ways, Work work, size_t rounds) {
  std::vector<double> best(ways.size());
  for (size_t round = 0; round <= rounds; ++round) {  // round 0 warms up
    for (size_t i = 0; i < ways.size(); ++i) {
      const double start = bench::seconds(bench::Clock::wall);
      RETURN_IF_ERROR(run_on(*ways[i].ranks, work));
      const double speed = double(work.num_tokens) / (bench::seconds(bench::Clock::wall) - start);
      if (round > 0) best[i] = std::max(best[i], speed);
    }
  }
  for (size_t i = 0; i < ways.size(); ++i) {
    fmt::print("{:<28} {:<10} {:>9.1f} tokens/s {:>7.2f}x\n", work.name, ways[i].name, best[i],
               best[i] / best[0]);
  }
  return {};
}

Result<Way> make_way(const std::shared_ptr<const gguf::File>& file, std::string name,
                     const engine::ParallelOptions& parallel, const Sizes& sizes) {
  const size_t num_rows = std::max<size_t>(sizes.chunk, 2);
  ASSIGN_OR_RETURN(const engine::RankPlan plan,
                   engine::plan_ranks(*file, engine::PlanOptions{.parallel = parallel,
                                                                 .num_tokens = sizes.length(),
                                                                 .num_rows = num_rows,
                                                                 .num_logit_rows = 2}));
  ASSIGN_OR_RETURN(engine::RankSeats seats, engine::load_ranks(file, plan, {}, {}));
  ASSIGN_OR_RETURN(auto ranks, engine::make_ranks(std::move(seats),
                                                  {.memory = {.num_rows = num_rows,
                                                              .num_logit_rows = 2,
                                                              .num_pages = 2 * sizes.num_pages(),
                                                              .page_size = kPageSize,
                                                              .num_slots = 2},
                                                   .parallel = parallel}));
  return Way{.name = std::move(name), .ranks = std::move(ranks)};
}

Status run(const std::filesystem::path& path, const Sizes& sizes) {
  ASSIGN_OR_RETURN(gguf::File opened, gguf::File::open(path));
  const auto file = std::make_shared<const gguf::File>(std::move(opened));
  const std::vector<std::string> two = {"cpu:0[0]", "cpu:0[1]"};
  std::vector<Way> ways;
  ASSIGN_OR_RETURN(Way one, make_way(file, "one rank", {.devices = {two[0]}}, sizes));
  ways.push_back(std::move(one));
  ASSIGN_OR_RETURN(Way shards, make_way(file, "tp 2", {.devices = two, .num_shards = 2}, sizes));
  ways.push_back(std::move(shards));
  ASSIGN_OR_RETURN(Way stages,
                   make_way(file, "2 stages", {.devices = two, .num_stages = 2}, sizes));
  ways.push_back(std::move(stages));

  RETURN_IF_ERROR(measure(ways, prompt(sizes), sizes.rounds));
  RETURN_IF_ERROR(measure(ways, streams(sizes, "decode, one stream", 1, true), sizes.rounds));
  RETURN_IF_ERROR(measure(ways, streams(sizes, "decode, two in one batch", 2, true), sizes.rounds));
  return measure(ways, streams(sizes, "decode, two in turns", 2, false), sizes.rounds);
}

}  // namespace
}  // namespace evener

int main(int argc, char** argv) {
  CLI::App app("What a second rank is good for");
  std::filesystem::path model;
  evener::Sizes sizes;
  app.add_option("MODEL", model)->required();
  app.add_option("--rounds", sizes.rounds);
  app.add_option("--chunks", sizes.num_chunks);
  app.add_option("--chunk", sizes.chunk);
  app.add_option("--tokens", sizes.num_tokens);
  CLI11_PARSE(app, argc, argv);
  if (const auto status = evener::run(model, sizes); !status) {
    fmt::print(stderr, "{}\n", to_string(status.error()));
    return 1;
  }
  return 0;
}
