#include "model/parts_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "device/cpu/cpu_device.h"
#include "model/loader.h"
#include "parallel/thread_comm.h"

namespace evener::model::test {
namespace {

constexpr size_t kPageSize = 64;
constexpr size_t kTokensMax = 64;
constexpr MemoryPlan kPlan{.num_rows = kTokensMax,
                           .num_logit_rows = kTokensMax,
                           .num_pages = kTokensMax / kPageSize,
                           .page_size = kPageSize,
                           .num_slots = 1,
                           .kv_type = device::KvType::f32};

std::vector<int32_t> counting(size_t first, size_t count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<int32_t>(first));
  return numbers;
}

// One rank's passes; the logits that it returns, one behind the other.
std::vector<float> run_rank(device::Device& device, const Model& model, RankMemory& memory,
                            const parallel::RankComms& comms, std::span<const int32_t> tokens,
                            size_t chunk) {
  if (memory.state) device.reset_state(*memory.state, 0);
  const std::vector<int32_t> pages = counting(0, kPlan.num_pages);
  std::vector<float> all;
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const auto some = tokens.subspan(begin, std::min(chunk, tokens.size() - begin));
    const std::vector<int32_t> positions = counting(begin, some.size());
    const std::vector<int32_t> rows = counting(0, some.size());
    const device::Slice slice{.first_row = 0,
                              .num_rows = some.size(),
                              .first_position = begin,
                              .pages = pages,
                              .state_slot = 0};
    const PassInput input{.tokens = some,
                          .positions = positions,
                          .batch = {.slices = {&slice, 1}, .num_rows = some.size()},
                          .logit_rows = rows};
    Pass pass(device, comms, memory, input);
    const Pass::Scope scope(pass);
    const device::Tensor logits = model.forward(pass);
    const size_t size = all.size();
    all.resize(size + logits.rows * logits.cols);
    if (logits.rows > 0) device.read(logits, std::span(all).subspan(size));
  }
  return all;
}

}  // namespace

Result<PartsRun> PartsRun::create(const gguf::File& file, const parallel::Layout& layout) {
  ASSIGN_OR_RETURN(const std::vector<Part> parts, cut_model(file, layout));
  std::vector<Rank> ranks;
  for (const Part& part : parts) {
    Rank rank;
    ASSIGN_OR_RETURN(rank.device,
                     device::cpu::create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = ""}));
    ASSIGN_OR_RETURN(rank.model, load_model(file, part, *rank.device, {}));
    ASSIGN_OR_RETURN(RankMemory memory, RankMemory::create(*rank.device, *rank.model, kPlan));
    rank.memory = std::make_unique<RankMemory>(std::move(memory));
    ranks.push_back(std::move(rank));
  }
  return PartsRun(layout.grid(), std::move(ranks));
}

std::vector<float> PartsRun::logits(std::span<const int32_t> tokens, size_t chunk) {
  std::vector<parallel::RankComms> comms =
      parallel::connect_threads(grid_, {.deadline = std::chrono::minutes(5)});
  std::vector<std::vector<float>> results(ranks_.size());
  std::vector<std::thread> threads;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    threads.emplace_back([&, r] {
      results[r] =
          run_rank(*ranks_[r].device, *ranks_[r].model, *ranks_[r].memory, comms[r], tokens, chunk);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const size_t root = grid_.rank_at(grid_.num_stages - 1, 0);
  for (size_t r = 0; r < results.size(); ++r) {
    EXPECT_TRUE(comms[r].status().has_value());
    EXPECT_TRUE(r == root || results[r].empty()) << "rank " << r << " has logits";
  }
  return std::move(results[root]);
}

std::vector<std::vector<std::vector<uint64_t>>> PartsRun::expert_uses() {
  std::vector<std::vector<std::vector<uint64_t>>> uses;
  for (size_t shard = 0; shard < grid_.num_shards; ++shard)
    uses.push_back(model::expert_uses(*ranks_[shard].device, *ranks_[shard].memory));
  return uses;
}

}  // namespace evener::model::test
