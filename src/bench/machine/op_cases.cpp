#include "bench/machine/op_cases.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "bench/machine/random_weights.h"

namespace evener::bench {
namespace {

using namespace device;
using Work = OpCase::Work;

// Tensors of one family of cases, and the way out for them. The first error ends all.
class Workshop {
 public:
  Workshop(Device& device, FunctionRef<Status(const OpCase&)> use) : device_(device), use_(use) {}

  Device& device() { return device_; }

  Result<Tensor> empty(size_t rows, size_t cols) {
    ASSIGN_OR_RETURN(auto buffer, device_.allocate(rows * cols * sizeof(float)));
    buffers_.push_back(std::move(buffer));
    return Tensor{buffers_.back().get(), 0, rows, cols, cols};
  }

  Result<Tensor> random(size_t rows, size_t cols) {
    ASSIGN_OR_RETURN(const Tensor tensor, empty(rows, cols));
    std::vector<float> values(rows * cols);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random_);
    device_.write(values, tensor);
    return tensor;
  }

  Status use(std::string name, Work unit, double work, std::function<void()> call) {
    return use_({std::move(name), unit, work, std::move(call)});
  }

 private:
  Device& device_;
  FunctionRef<Status(const OpCase&)> use_;
  std::mt19937 random_{1};
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

struct AttentionCase {
  size_t heads;
  size_t kv_heads;
  size_t dim;
  size_t depth;  // positions before the rows
  size_t rows;
  KvType type = KvType::f16;
};

Status attention(Workshop shop, const AttentionCase& c) {
  constexpr size_t kPageSize = 64;
  Device& device = shop.device();
  const size_t end = c.depth + c.rows;
  ASSIGN_OR_RETURN(const auto cache,
                   device.create_kv_cache({.num_layers = 1,
                                           .num_pages = (end + kPageSize - 1) / kPageSize,
                                           .page_size = kPageSize,
                                           .num_kv_heads = c.kv_heads,
                                           .head_dim = c.dim,
                                           .type = c.type}));
  std::vector<int32_t> pages(cache->shape().num_pages);
  std::iota(pages.begin(), pages.end(), 0);
  const Slice fill = {
      .first_row = 0, .num_rows = end, .first_position = 0, .pages = pages, .state_slot = -1};
  const Batch filling = {.slices = {&fill, 1}, .num_rows = end};
  ASSIGN_OR_RETURN(const Tensor k, shop.random(end, c.kv_heads * c.dim));
  ASSIGN_OR_RETURN(const Tensor v, shop.random(end, c.kv_heads * c.dim));
  const std::string shape =
      fmt::format("{}/{}x{} {}", c.heads, c.kv_heads, c.dim, info(c.type).name);
  RETURN_IF_ERROR(shop.use(fmt::format("store_kv {} rows, {}", end, shape), Work::bytes,
                           double(end * c.kv_heads * c.dim) * 12,
                           [&] { device.store_kv(*cache, 0, filling, k, v); }));

  // Whatever `use` did: pages that nobody wrote are one page of zeros, which never leaves the
  // caches.
  device.store_kv(*cache, 0, filling, k, v);
  const Slice slice = {.first_row = 0,
                       .num_rows = c.rows,
                       .first_position = c.depth,
                       .pages = pages,
                       .state_slot = -1};
  const Batch batch = {.slices = {&slice, 1}, .num_rows = c.rows};
  ASSIGN_OR_RETURN(const Tensor q, shop.random(c.rows, c.heads * c.dim));
  ASSIGN_OR_RETURN(const Tensor y, shop.empty(c.rows, c.heads * c.dim));
  const bool decode = c.rows == 1;
  const double pairs = double(c.rows) * (double(c.depth) + double(c.rows + 1) / 2);
  const double bytes = double(end) / double(kPageSize) * double(cache->shape().bytes_per_page());
  return shop.use(decode ? fmt::format("attention decode at {}, {}", c.depth, shape)
                         : fmt::format("attention {} at {}, {}", c.rows, c.depth, shape),
                  decode ? Work::bytes : Work::flops,
                  decode ? bytes : pairs * double(c.heads * c.dim) * 4,
                  [&] { device.attention(*cache, 0, batch, q, 0.1f, y); });
}

Status recurrent(Workshop shop, size_t key_heads, size_t heads, size_t dim, size_t rows) {
  Device& device = shop.device();
  const size_t channels = (2 * key_heads + heads) * dim;
  ASSIGN_OR_RETURN(const auto cache, device.create_state_cache({.num_layers = 1,
                                                                .num_slots = 1,
                                                                .conv_taps = 4,
                                                                .conv_channels = channels,
                                                                .num_value_heads = heads,
                                                                .head_dim = dim}));
  const Slice slice = {
      .first_row = 0, .num_rows = rows, .first_position = 0, .pages = {}, .state_slot = 0};
  const Batch batch = {.slices = {&slice, 1}, .num_rows = rows};
  ASSIGN_OR_RETURN(const Tensor x, shop.random(rows, channels));
  ASSIGN_OR_RETURN(const Tensor taps, shop.random(channels, 4));
  ASSIGN_OR_RETURN(const Tensor qkv, shop.random(rows, channels));
  RETURN_IF_ERROR(shop.use(fmt::format("conv {} channels, {} rows", channels, rows), Work::bytes,
                           double(rows * channels) * 8,
                           [&] { device.causal_conv_silu(*cache, 0, batch, x, taps, qkv); }));
  ASSIGN_OR_RETURN(const Tensor beta, shop.random(rows, heads));
  ASSIGN_OR_RETURN(const Tensor alpha, shop.random(rows, heads));
  ASSIGN_OR_RETURN(const Tensor dt_bias, shop.random(1, heads));
  ASSIGN_OR_RETURN(const Tensor a, shop.empty(1, heads));
  device.write(std::vector<float>(heads, -0.1f), a);
  ASSIGN_OR_RETURN(const Tensor y, shop.empty(rows, heads * dim));
  const DeltaNetArgs args = {.qkv = qkv,
                             .beta = beta,
                             .alpha = alpha,
                             .a = a,
                             .dt_bias = dt_bias,
                             .num_key_heads = key_heads,
                             .mapping = HeadMapping::tiled,
                             .norm_eps = 1e-6f};
  return shop.use(fmt::format("delta net V={} S={}, {} rows", heads, dim, rows), Work::flops,
                  double(rows * heads * dim * dim) * 7,
                  [&] { device.gated_delta_net(*cache, 0, batch, args, y); });
}

Status rows_and_elements(Workshop shop, size_t rows, size_t cols) {
  Device& device = shop.device();
  ASSIGN_OR_RETURN(const Tensor x, shop.random(rows, cols));
  ASSIGN_OR_RETURN(const Tensor y, shop.random(rows, cols));
  ASSIGN_OR_RETURN(const Tensor gain, shop.random(1, cols));
  ASSIGN_OR_RETURN(const Tensor out, shop.empty(rows, cols));
  const double floats = double(rows * cols);
  const std::string shape = fmt::format(" {} x {}", rows, cols);
  RETURN_IF_ERROR(shop.use("rms_norm" + shape, Work::bytes, floats * 8,
                           [&] { device.rms_norm(x, gain, 1e-6f, out); }));
  RETURN_IF_ERROR(shop.use("gated_rms_norm" + shape, Work::bytes, floats * 12,
                           [&] { device.gated_rms_norm(x, gain, 1e-6f, y, out); }));
  RETURN_IF_ERROR(
      shop.use("silu_mul" + shape, Work::bytes, floats * 12, [&] { device.silu_mul(x, y, out); }));
  return shop.use("add" + shape, Work::bytes, floats * 12, [&] { device.add(x, out); });
}

Status rope(Workshop shop, size_t rows, size_t heads, size_t dim) {
  Device& device = shop.device();
  std::vector<int32_t> positions(rows);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<double> frequencies(dim / 2, 0.01);
  ASSIGN_OR_RETURN(const Tensor angles, shop.empty(rows, dim));
  ASSIGN_OR_RETURN(const Tensor x, shop.random(rows * heads, dim));
  RETURN_IF_ERROR(shop.use(fmt::format("rope_angles {} x {}", rows, dim / 2), Work::bytes,
                           double(rows * dim) * 4,
                           [&] { device.rope_angles(positions, frequencies, 1, angles); }));
  const double bytes = double(rows * heads * dim) * 8;
  RETURN_IF_ERROR(shop.use(fmt::format("rope halves {} x {}", rows, heads), Work::bytes, bytes,
                           [&] { device.rope(x, angles, RopePairing::halves); }));
  return shop.use(fmt::format("rope neighbours {} x {}", rows, heads), Work::bytes, bytes,
                  [&] { device.rope(x, angles, RopePairing::neighbours); });
}

Result<std::unique_ptr<Weight>> random_experts(Device& device, size_t experts, size_t outputs,
                                               size_t inputs) {
  const auto bytes = random_weights(DType::Q4_K, experts * outputs * inputs);
  return device.upload({.name = "experts",
                        .dtype = DType::Q4_K,
                        .outputs = outputs,
                        .inputs = inputs,
                        .bytes = bytes,
                        .num_experts = experts},
                       WeightUse::linear);
}

// Q4_K. Every call goes to other experts, so that few rows read their weights from memory.
Status mixture(Workshop shop, const RoutingShape& shape, std::initializer_list<size_t> row_counts) {
  Device& device = shop.device();
  const size_t x = shape.num_experts;
  ASSIGN_OR_RETURN(const auto gate,
                   random_experts(device, x, shape.intermediate_size, shape.hidden_size));
  ASSIGN_OR_RETURN(const auto up,
                   random_experts(device, x, shape.intermediate_size, shape.hidden_size));
  ASSIGN_OR_RETURN(const auto down,
                   random_experts(device, x, shape.hidden_size, shape.intermediate_size));
  const double expert_bytes = 3 * double(gate->size_bytes()) / double(x);
  ASSIGN_OR_RETURN(const auto routing, device.create_routing(shape));
  ASSIGN_OR_RETURN(const Tensor many_logits, shop.random(64 * shape.num_rows, x));
  for (const size_t rows : row_counts) {
    ASSIGN_OR_RETURN(const Tensor in, shop.random(rows, shape.hidden_size));
    ASSIGN_OR_RETURN(const Tensor out, shop.empty(rows, shape.hidden_size));
    const double choices = double(rows * shape.num_chosen);
    size_t call = 0;
    const auto route = [&] {
      device.route(*routing, 0, many_logits.row_range(call++ % 64 * shape.num_rows, rows), {});
    };
    const std::string what =
        fmt::format("{} of {} x {}, {} rows", shape.num_chosen, x, shape.intermediate_size, rows);
    RETURN_IF_ERROR(shop.use("route " + what, Work::bytes, double(rows * x) * 4, route));
    const double macs = choices * double(3 * shape.hidden_size * shape.intermediate_size);
    RETURN_IF_ERROR(shop.use("experts " + what, rows == 1 ? Work::memory_bytes : Work::int8_ops,
                             rows == 1 ? choices * expert_bytes : 2 * macs, [&] {
                               route();
                               device.expert_ffn(*routing, in, {gate.get(), up.get(), down.get()},
                                                 out);
                             }));
  }
  return {};
}

}  // namespace

Status each_op_case(Device& device, FunctionRef<Status(const OpCase&)> use) {
  const auto shop = [&] { return Workshop(device, use); };
  RETURN_IF_ERROR(rows_and_elements(shop(), 1, 1024));
  RETURN_IF_ERROR(rows_and_elements(shop(), 1, 16384));
  RETURN_IF_ERROR(rows_and_elements(shop(), 512, 4096));
  RETURN_IF_ERROR(rope(shop(), 1, 24, 128));
  RETURN_IF_ERROR(rope(shop(), 512, 24, 128));
  RETURN_IF_ERROR(attention(shop(), {16, 8, 128, 0, 512}));
  RETURN_IF_ERROR(attention(shop(), {16, 8, 128, 2048, 512}));
  RETURN_IF_ERROR(attention(shop(), {16, 8, 128, 2048, 1}));
  RETURN_IF_ERROR(attention(shop(), {8, 8, 128, 2048, 1}));
  for (const KvTypeInfo& type : kKvTypes) {
    RETURN_IF_ERROR(attention(shop(), {24, 4, 256, 2048, 512, type.type}));
    RETURN_IF_ERROR(attention(shop(), {24, 4, 256, 2048, 1, type.type}));
    RETURN_IF_ERROR(attention(shop(), {24, 4, 256, 8192, 1, type.type}));
    RETURN_IF_ERROR(attention(shop(), {16, 8, 128, 8192, 1, type.type}));
  }
  RETURN_IF_ERROR(mixture(shop(),
                          {.num_layers = 1,
                           .num_rows = 512,
                           .num_experts = 128,
                           .num_chosen = 8,
                           .hidden_size = 2048,
                           .intermediate_size = 768},
                          {1, 4, 16, 128, 512}));
  RETURN_IF_ERROR(recurrent(shop(), 16, 32, 128, 256));
  return recurrent(shop(), 16, 32, 128, 1);
}

}  // namespace evener::bench
