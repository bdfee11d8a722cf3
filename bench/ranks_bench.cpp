// What the machinery of ranks costs: the same passes through a model by itself, through one rank on
// the calling thread, through one rank on a thread of its own, and over two ranks, in turns, so
// that all see the same machine; and what it costs that ranks compare what they have.
//
//   ranks_bench MODEL [--rounds 15]
//
// Prints the best time of each in microseconds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "best_seconds.h"
#include "device/create_device.h"
#include "engine/load_ranks.h"
#include "engine/many_ranks.h"
#include "engine/solo_ranks.h"
#include "gguf/file.h"
#include "parallel/thread_comm.h"
#include "pass_batch.h"

namespace evener {
namespace {

constexpr size_t kPageSize = 64;
constexpr model::MemoryPlan kMemory{.num_rows = 256,
                                    .num_logit_rows = 1,
                                    .num_pages = 8,
                                    .page_size = kPageSize,
                                    .num_slots = 1,
                                    .kv_type = device::KvType::f16};

struct Way {
  std::string name;
  std::function<void(const engine::RankPass&)> run;
  double best = 1e9;
};

void run_on(engine::Ranks& ranks, const engine::RankPass& pass) {
  ranks.begin(pass);
  if (const auto result = ranks.end(); !result)
    fmt::print(stderr, "{}\n", to_string(result.error()));
}

void measure(std::vector<Way>& ways, size_t num_rows, size_t rounds) {
  bench::PassBatch batch(kMemory.num_pages);
  batch.add(0, 0, num_rows);
  for (Way& way : ways) way.best = 1e9;
  for (size_t round = 0; round < rounds; ++round) {
    for (Way& way : ways) {
      way.best = std::min(
          way.best, bench::best_seconds(num_rows == 1 ? 8 : 1, [&] { way.run(batch.pass()); }));
    }
  }
  for (const Way& way : ways) {
    fmt::print("{:>4} rows  {:<32}{:>12.1f} us {:>8.3f}\n", num_rows, way.name, way.best * 1e6,
               way.best / ways.front().best);
  }
}

// Two threads compare [rows, 1024].
Status measure_comparison(size_t num_rows) {
  auto comms = parallel::connect_threads({.num_shards = 2}, {});
  constexpr size_t kCols = 1024;
  constexpr size_t kCalls = 200;
  const auto compare = [&](size_t rank, device::Device& device) -> Status {
    ASSIGN_OR_RETURN(const auto memory, device.allocate(num_rows * kCols * sizeof(float)));
    const device::Tensor x{memory.get(), 0, num_rows, kCols, kCols};
    for (size_t i = 0; i < kCalls; ++i) comms[rank].shards->verify_same(device, x);
    return comms[rank].status();
  };
  ASSIGN_OR_RETURN(const auto first, device::create_device("cpu:0[0]", 0));
  ASSIGN_OR_RETURN(const auto second, device::create_device("cpu:0[1]", 0));
  const double seconds = bench::best_seconds(5, [&] {
    std::jthread other([&] {
      (void)second->bind_thread();
      (void)compare(1, *second);
    });
    (void)compare(0, *first);
  });
  fmt::print("{:>4} rows  {:<32}{:>12.2f} us\n", num_rows, "comparison of two ranks",
             seconds / kCalls * 1e6);
  return {};
}

Status run(const std::filesystem::path& path, size_t rounds) {
  ASSIGN_OR_RETURN(gguf::File opened, gguf::File::open(path));
  const auto file = std::make_shared<const gguf::File>(std::move(opened));
  engine::RankPlan plan{.layout = {}, .devices = {"cpu:0[0]"}, .why = {}};
  ASSIGN_OR_RETURN(const engine::RankSeats one, engine::load_ranks(file, plan, {}, {}));
  plan = {.layout = {.ratio = {1, 1}}, .devices = {"cpu:0[0]", "cpu:0[1]"}, .why = {}};
  ASSIGN_OR_RETURN(const engine::RankSeats two, engine::load_ranks(file, plan, {}, {}));

  device::Device& device = *one.seats[0].device;
  const model::Model& model = *one.seats[0].model;
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(device, model, kMemory));
  std::vector<float> logits(model.whole().vocab_size);
  ASSIGN_OR_RETURN(const auto solo, engine::SoloRanks::create(one, {.memory = kMemory}));
  ASSIGN_OR_RETURN(const auto thread,
                   engine::ManyRanks::create(one, {.team = {.memory = kMemory}}));
  ASSIGN_OR_RETURN(const auto pair, engine::ManyRanks::create(two, {.team = {.memory = kMemory}}));

  std::vector<Way> ways = {
      {"the model by itself",
       [&](const engine::RankPass& rank_pass) {
         const parallel::RankComms comms = parallel::RankComms::solo();
         model::Pass pass(device, comms, memory, rank_pass.input);
         const model::Pass::Scope scope(pass);
         device.read(model.forward(pass), logits);
       }},
      {"one rank", [&](const engine::RankPass& pass) { run_on(*solo, pass); }},
      {"one rank, on its own thread", [&](const engine::RankPass& pass) { run_on(*thread, pass); }},
      {"two ranks, tp 2", [&](const engine::RankPass& pass) { run_on(*pair, pass); }},
  };
  measure(ways, 1, rounds);
  measure(ways, 256, rounds / 3 + 1);
  RETURN_IF_ERROR(measure_comparison(1));
  return measure_comparison(256);
}

}  // namespace
}  // namespace evener

int main(int argc, char** argv) {
  CLI::App app("What the machinery of ranks costs");
  std::filesystem::path model;
  size_t rounds = 15;
  app.add_option("MODEL", model)->required();
  app.add_option("--rounds", rounds);
  CLI11_PARSE(app, argc, argv);
  if (const auto status = evener::run(model, rounds); !status) {
    fmt::print(stderr, "{}\n", to_string(status.error()));
    return 1;
  }
  return 0;
}
