// Speed of the CPU device's operations but linear, at sizes of real models.
//
//   ops_bench [--threads N] [--isa avx2] [--only TEXT] [--reps N] [--cpu-time]
//
// One line an operation: the best time of a call, and what it moved or computed a second. With
// --cpu-time and one thread, the thread's own time counts: for a machine that others use too.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "best_seconds.h"
#include "device/cpu/cpu_device.h"

namespace evener::device {
namespace {

struct Options {
  size_t num_threads = 0;
  std::string isa;
  std::string only;
  size_t reps = 20;
  bool cpu_time = false;
};

class Bench {
 public:
  Bench(Device& device, const Options& options) : device_(device), options_(options) {}

  Device& device() { return device_; }

  Tensor random(size_t rows, size_t cols) {
    std::vector<float> values(rows * cols);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random_);
    const Tensor tensor = empty(rows, cols);
    device_.write(values, tensor);
    return tensor;
  }

  Tensor empty(size_t rows, size_t cols) {
    buffers_.push_back(device_.allocate(rows * cols * sizeof(float)).value());
    return {buffers_.back().get(), 0, rows, cols, cols};
  }

  // `work` counts in units of `unit`: "GFLOP" or "GB".
  void time(const std::string& name, double work, const char* unit,
            const std::function<void()>& call) {
    if (name.find(options_.only) == std::string::npos) return;
    const bench::Clock clock = options_.cpu_time ? bench::Clock::thread : bench::Clock::wall;
    const double best = bench::best_seconds(options_.reps, call, clock);
    fmt::print("{:<40} {:>10.1f} us {:>9.2f} {}/s\n", name, best * 1e6, work / best * 1e-9, unit);
  }

 private:
  Device& device_;
  Options options_;
  std::mt19937 random_{1};
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

void attention(Bench& bench, const std::string& name, size_t heads, size_t kv_heads, size_t dim,
               size_t depth, size_t rows, KvType type = KvType::f16) {
  constexpr size_t kPageSize = 64;
  const size_t end = depth + rows;
  const auto cache = bench.device()
                         .create_kv_cache({.num_layers = 1,
                                           .num_pages = (end + kPageSize - 1) / kPageSize,
                                           .page_size = kPageSize,
                                           .num_kv_heads = kv_heads,
                                           .head_dim = dim,
                                           .type = type})
                         .value();
  std::vector<int32_t> pages(cache->shape().num_pages);
  std::iota(pages.begin(), pages.end(), 0);
  const Slice fill = {
      .first_row = 0, .num_rows = end, .first_position = 0, .pages = pages, .state_slot = -1};
  const Batch filling = {.slices = {&fill, 1}, .num_rows = end};
  const Tensor k = bench.random(end, kv_heads * dim);
  const Tensor v = bench.random(end, kv_heads * dim);
  bench.time(fmt::format("store_kv {} rows {}", end, info(type).name),
             double(end * kv_heads * dim) * 12, "GB",
             [&] { bench.device().store_kv(*cache, 0, filling, k, v); });
  const Slice slice = {
      .first_row = 0, .num_rows = rows, .first_position = depth, .pages = pages, .state_slot = -1};
  const Batch batch = {.slices = {&slice, 1}, .num_rows = rows};
  const Tensor q = bench.random(rows, heads * dim);
  const Tensor y = bench.empty(rows, heads * dim);
  const double pairs = double(rows) * (double(depth) + double(rows + 1) / 2);
  const bool decode = rows == 1;
  const double page_bytes = double(cache->shape().bytes_per_page());
  const double work =
      decode ? double(end) / double(kPageSize) * page_bytes : pairs * double(heads * dim) * 4;
  bench.time(name, work, decode ? "GB" : "GFLOP",
             [&] { bench.device().attention(*cache, 0, batch, q, 0.1f, y); });
}

void recurrent(Bench& bench, size_t key_heads, size_t heads, size_t dim, size_t rows) {
  const size_t channels = (2 * key_heads + heads) * dim;
  const auto cache = bench.device()
                         .create_state_cache({.num_layers = 1,
                                              .num_slots = 1,
                                              .conv_taps = 4,
                                              .conv_channels = channels,
                                              .num_value_heads = heads,
                                              .head_dim = dim})
                         .value();
  const Slice slice = {
      .first_row = 0, .num_rows = rows, .first_position = 0, .pages = {}, .state_slot = 0};
  const Batch batch = {.slices = {&slice, 1}, .num_rows = rows};
  const Tensor x = bench.random(rows, channels);
  const Tensor taps = bench.random(channels, 4);
  const Tensor qkv = bench.random(rows, channels);
  bench.time(fmt::format("conv {} channels, {} rows", channels, rows), double(rows * channels) * 8,
             "GB", [&] { bench.device().causal_conv_silu(*cache, 0, batch, x, taps, qkv); });
  const Tensor beta = bench.random(rows, heads);
  const Tensor alpha = bench.random(rows, heads);
  const Tensor dt_bias = bench.random(1, heads);
  const Tensor a = bench.empty(1, heads);
  bench.device().write(std::vector<float>(heads, -0.1f), a);
  const Tensor y = bench.empty(rows, heads * dim);
  bench.time(fmt::format("delta net V={} S={}, {} rows", heads, dim, rows),
             double(rows * heads * dim * dim) * 7, "GFLOP", [&] {
               bench.device().gated_delta_net(*cache, 0, batch,
                                              {.qkv = qkv,
                                               .beta = beta,
                                               .alpha = alpha,
                                               .a = a,
                                               .dt_bias = dt_bias,
                                               .num_key_heads = key_heads,
                                               .mapping = HeadMapping::tiled,
                                               .norm_eps = 1e-6f},
                                              y);
             });
}

void rows_and_elements(Bench& bench, size_t rows, size_t cols) {
  const Tensor x = bench.random(rows, cols);
  const Tensor y = bench.random(rows, cols);
  const Tensor gain = bench.random(1, cols);
  const Tensor out = bench.empty(rows, cols);
  const double floats = double(rows * cols);
  const std::string shape = fmt::format(" {} x {}", rows, cols);
  Device& device = bench.device();
  bench.time("rms_norm" + shape, floats * 8, "GB", [&] { device.rms_norm(x, gain, 1e-6f, out); });
  bench.time("gated_rms_norm" + shape, floats * 12, "GB",
             [&] { device.gated_rms_norm(x, gain, 1e-6f, y, out); });
  bench.time("silu_mul" + shape, floats * 12, "GB", [&] { device.silu_mul(x, y, out); });
  bench.time("add" + shape, floats * 12, "GB", [&] { device.add(x, out); });
}

void rope(Bench& bench, size_t rows, size_t heads, size_t dim) {
  std::vector<int32_t> positions(rows);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<double> frequencies(dim / 2, 0.01);
  const Tensor angles = bench.empty(rows, dim);
  const Tensor x = bench.random(rows * heads, dim);
  Device& device = bench.device();
  bench.time(fmt::format("rope_angles {} x {}", rows, dim / 2), double(rows * dim) * 4, "GB",
             [&] { device.rope_angles(positions, frequencies, 1, angles); });
  bench.time(fmt::format("rope halves {} x {}", rows, heads), double(rows * heads * dim) * 8, "GB",
             [&] { device.rope(x, angles, RopePairing::halves); });
  bench.time(fmt::format("rope neighbours {} x {}", rows, heads), double(rows * heads * dim) * 8,
             "GB", [&] { device.rope(x, angles, RopePairing::neighbours); });
}

std::unique_ptr<Weight> random_experts(Device& device, size_t experts, size_t outputs,
                                       size_t inputs) {
  const DTypeInfo& layout = info(DType::Q4_K);
  std::vector<std::byte> bytes(experts * outputs * inputs / layout.block_size * layout.block_bytes);
  std::mt19937 random(1);
  for (std::byte& byte : bytes) byte = std::byte(random() % 40);  // halves far below 1
  return device
      .upload({.name = "experts",
               .dtype = DType::Q4_K,
               .outputs = outputs,
               .inputs = inputs,
               .bytes = bytes,
               .num_experts = experts},
              WeightUse::linear)
      .value();
}

// Q4_K. Every call goes to other experts, so that few rows read their weights from memory.
void mixture(Bench& bench, const RoutingShape& shape, const std::vector<size_t>& row_counts) {
  Device& device = bench.device();
  const size_t x = shape.num_experts;
  const auto gate = random_experts(device, x, shape.intermediate_size, shape.hidden_size);
  const auto up = random_experts(device, x, shape.intermediate_size, shape.hidden_size);
  const auto down = random_experts(device, x, shape.hidden_size, shape.intermediate_size);
  const double expert_bytes = 3 * double(gate->size_bytes()) / double(x);
  const auto routing = device.create_routing(shape).value();
  const Tensor many_logits = bench.random(64 * shape.num_rows, x);
  for (const size_t rows : row_counts) {
    const Tensor in = bench.random(rows, shape.hidden_size);
    const Tensor out = bench.empty(rows, shape.hidden_size);
    const double choices = double(rows * shape.num_chosen);
    size_t call = 0;
    const auto next_logits = [&] {
      return many_logits.row_range(call++ % 64 * shape.num_rows, rows);
    };
    const std::string what =
        fmt::format("{} of {} x {}, {} rows", shape.num_chosen, x, shape.intermediate_size, rows);
    bench.time("route " + what, double(rows * x) * 4, "GB",
               [&] { device.route(*routing, 0, next_logits(), {}); });
    const double macs = choices * double(3 * shape.hidden_size * shape.intermediate_size);
    bench.time("experts " + what, rows == 1 ? choices * expert_bytes : 2 * macs,
               rows == 1 ? "GB" : "GFLOP", [&] {
                 device.route(*routing, 0, next_logits(), {});
                 device.expert_ffn(*routing, in, {gate.get(), up.get(), down.get()}, out);
               });
  }
}

int run(const Options& options) {
  const auto device = cpu::create_cpu_device(
      {.numa_node = 0, .num_threads = options.num_threads, .isa = options.isa});
  if (!device) {
    fmt::print(stderr, "ops_bench: {}\n", to_string(device.error()));
    return 2;
  }
  fmt::print("{}\n", (*device)->info().description);
  Bench bench(**device, options);
  rows_and_elements(bench, 1, 1024);
  rows_and_elements(bench, 1, 16384);
  rows_and_elements(bench, 512, 4096);
  rope(bench, 1, 24, 128);
  rope(bench, 512, 24, 128);
  attention(bench, "attention prefill 512, 16/8 x 128", 16, 8, 128, 0, 512);
  attention(bench, "attention 512 at 2048, 16/8 x 128", 16, 8, 128, 2048, 512);
  attention(bench, "attention decode at 2048, 16/8", 16, 8, 128, 2048, 1);
  attention(bench, "attention decode at 2048, 8/8", 8, 8, 128, 2048, 1);
  for (const KvTypeInfo& type : kKvTypes) {
    const auto name = [&type](const char* what) { return fmt::format("{} {}", what, type.name); };
    attention(bench, name("attention 512 at 2048, 24/4 x 256"), 24, 4, 256, 2048, 512, type.type);
    attention(bench, name("attention decode at 2048, 24/4x256"), 24, 4, 256, 2048, 1, type.type);
    attention(bench, name("attention decode at 8192, 24/4x256"), 24, 4, 256, 8192, 1, type.type);
    attention(bench, name("attention decode at 8192, 16/8x128"), 16, 8, 128, 8192, 1, type.type);
  }
  mixture(bench,
          {.num_layers = 1,
           .num_rows = 512,
           .num_experts = 128,
           .num_chosen = 8,
           .hidden_size = 2048,
           .intermediate_size = 768},
          {1, 4, 16, 128, 512});
  recurrent(bench, 16, 32, 128, 256);
  recurrent(bench, 16, 32, 128, 1);
  return 0;
}

}  // namespace
}  // namespace evener::device

int main(int argc, char** argv) {
  evener::device::Options options;
  CLI::App app("Speed of the CPU device's operations");
  app.add_option("--threads", options.num_threads);
  app.add_option("--isa", options.isa);
  app.add_option("--only", options.only);
  app.add_option("--reps", options.reps);
  app.add_flag("--cpu-time", options.cpu_time);
  CLI11_PARSE(app, argc, argv);
  return evener::device::run(options);
}
