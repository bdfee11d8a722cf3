// What a step on a graphics card costs by the bytes that its kernels move and what they compute,
// and the least time that this takes on given cards: an estimate for machines that are not here.
// Nothing is computed: the model's weights are not even read.
//
//   card_roofline MODEL.gguf [--depth N] [--rows N]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/vulkan/card_device.h"
#include "device/vulkan/vulkan_device.h"
#include "engine/rank.h"
#include "gguf/file.h"
#include "model/loader.h"
#include "model/rank_memory.h"
#include "parallel/grid.h"
#include "pass_batch.h"

namespace evener {
namespace {

// From the makers' data sheets; operations are those of instructions that multiply four pairs of
// bytes, or one pair of floats, on all lanes, without matrix units.
struct Card {
  const char* name;
  double bytes_per_s;
  double int8_operations_per_s;
  double float_operations_per_s;
};
constexpr Card kCards[] = {{"RX 7900 XTX", 960e9, 123e12, 30.7e12},
                           {"R9700", 640e9, 95.7e12, 23.9e12}};

// A dependent kernel starts when the one before has ended and its results are seen.
constexpr double kSecondsACall = 3e-6;

struct Options {
  std::string model;
  size_t depth = 0;
  size_t rows = 1;
};

bool multiplies_bytes(std::string_view kernel) {
  const bool is_linear = kernel.starts_with("linear_");
  return is_linear && !kernel.ends_with("/F32") && !kernel.ends_with("F16");
}

struct Row {
  std::string kernel;
  device::vulkan::StepCosts::Entry cost;
};

double seconds_of(const Row& row, const Card& card) {
  const double rate =
      multiplies_bytes(row.kernel) ? card.int8_operations_per_s : card.float_operations_per_s;
  return std::max(double(row.cost.bytes) / card.bytes_per_s, double(row.cost.operations) / rate) +
         double(row.cost.calls) * kSecondsACall;
}

void print(const device::vulkan::StepCosts& costs, const Options& options) {
  std::vector<Row> rows;
  for (const auto& [kernel, cost] : costs.entries()) rows.push_back({kernel, cost});
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return seconds_of(a, kCards[0]) > seconds_of(b, kCards[0]);
  });
  fmt::print("{} rows behind {} positions\n\n", options.rows, options.depth);
  fmt::print("| kernel | calls | MB | GOP | {} ms | {} ms |\n|---|---|---|---|---|---|\n",
             kCards[0].name, kCards[1].name);
  std::array<double, 2> total{};
  for (const Row& row : rows) {
    std::array<double, 2> ms{};
    for (size_t i = 0; i < 2; ++i) total[i] += ms[i] = 1e3 * seconds_of(row, kCards[i]);
    fmt::print("| {} | {} | {:.1f} | {:.2f} | {:.3f} | {:.3f} |\n", row.kernel, row.cost.calls,
               double(row.cost.bytes) * 1e-6, double(row.cost.operations) * 1e-9, ms[0], ms[1]);
  }
  fmt::print("| all |  |  |  | {:.2f} | {:.2f} |\n", total[0], total[1]);
}

Status run(const Options& options) {
  ASSIGN_OR_RETURN(const gguf::File file, gguf::File::open(options.model));
  ASSIGN_OR_RETURN(auto device, device::vulkan::create_card_device({.is_plan = true}));
  ASSIGN_OR_RETURN(const auto parts, model::cut_model(file, {}));
  ASSIGN_OR_RETURN(const auto model, model::load_model(file, parts[0], *device, {}));
  constexpr size_t kPageSize = 64;
  const size_t num_pages = (options.depth + options.rows + kPageSize - 1) / kPageSize;
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(*device, *model,
                                                          {.num_rows = options.rows,
                                                           .num_logit_rows = 1,
                                                           .num_pages = num_pages,
                                                           .page_size = kPageSize,
                                                           .num_slots = 1}));
  const parallel::RankComms comms = parallel::RankComms::solo();
  engine::Rank rank(*device, *model, comms, std::move(memory));
  bench::PassBatch batch(num_pages);
  batch.add(0, options.depth, options.rows);
  device->steps().forget_costs();
  engine::PassResult result;
  const engine::RankPass pass = batch.pass();
  RETURN_IF_ERROR(rank.run(pass, result));
  print(device->steps().costs(), options);
  return {};
}

}  // namespace
}  // namespace evener

int main(int argc, char** argv) {
  evener::Options options;
  CLI::App app("Estimates a step on cards that are not here");
  app.add_option("model", options.model)->required();
  app.add_option("--depth", options.depth, "positions before the rows");
  app.add_option("--rows", options.rows, "1: decode");
  CLI11_PARSE(app, argc, argv);
  const auto done = evener::run(options);
  if (!done) fmt::print(stderr, "card_roofline: {}\n", to_string(done.error()));
  return done ? 0 : 1;
}
