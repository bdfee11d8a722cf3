// What the cost model says of one to four cards on PCIe 3.0, and of the machines whose figures are
// published. Nothing here is measured: docs/parallel.md says where it misses.
#include <fmt/format.h>

#include <string_view>

#include "parallel/cost_model.h"

namespace {

using namespace evener::parallel;

constexpr double kGiga = 1e9;

// Sizes: reference/models/qwen35.md for 27B, 16 of its 64 layers with attention of 4 x 256 keys and
// values in f16; Qwen3-30B-A3B as published, 3.3 of 30.5 billion weights for each row.
struct Model {
  std::string_view name;
  ModelWork work;
};
constexpr double kWeights27 = 26.4e9;  // without the embedding, which is looked up
constexpr double kWeights3 = 3.0e9;
constexpr ModelWork dense_27b(double bits) {
  return {.num_layers = 64,
          .hidden_size = 5120,
          .weight_bytes = kWeights27 * bits / 8,
          .flops_per_token = 2 * kWeights27,
          .kv_bytes_per_token = 16 * 2 * 4 * 256 * 2};
}
constexpr Model kModels[] = {
    {"27B dense, 4.8 bits (Q4_K)", dense_27b(4.8)},
    {"27B dense, 8 bits (FP8)", dense_27b(8)},
    {"30B-A3B mixture, 4.8 bits",
     {.num_layers = 48,
      .hidden_size = 2048,
      .weight_bytes = kWeights3 * 4.8 / 8,
      .flops_per_token = 2 * kWeights3,
      .kv_bytes_per_token = 48 * 2 * 4 * 128 * 2}},
};

// Assumed: 80 % of the card's bandwidth, a third of its dense f16 arithmetic, 40 us of launches and
// waits a layer.
constexpr double kReachedBytes = 0.8;
constexpr double kReachedFlops = 0.33;
constexpr double kLayerSeconds = 40e-6;
constexpr DeviceSpeed card(double bytes_per_s, double flops_per_s) {
  return {.bytes_per_s = kReachedBytes * bytes_per_s,
          .flops_per_s = kReachedFlops * flops_per_s,
          .layer_seconds = kLayerSeconds};
}
constexpr DeviceSpeed kR9700 = card(640e9, 191e12);
constexpr DeviceSpeed kXtx = card(960e9, 123e12);

struct Slot {
  std::string_view name;
  double bytes_per_s;
};
constexpr Slot kSlots[] = {{"x16", 12.5 * kGiga}, {"x8", 6.2 * kGiga}, {"x4", 3.1 * kGiga}};
constexpr double kPeerLatency = 10e-6;
constexpr double kHostLatency = 30e-6;
constexpr double kContext = 8192;
constexpr size_t kChunk = 2048;
constexpr size_t kChunks = 8;

LinkSpeed link_of(double bytes_per_s, bool peer) {
  return {.bytes_per_s = bytes_per_s,
          .latency_seconds = peer ? kPeerLatency : kHostLatency,
          .peer = peer};
}

void print_curve(const Model& model) {
  const Speeds one = predict_one(model.work, kR9700, kContext);
  fmt::print("\n{}: one card {:.0f} tokens/s prefill, {:.1f} decode\n\n", model.name, one.prefill,
             one.decode);
  fmt::print(
      "| slot | way | cards | tp prefill | tp decode | stages prefill | stages decode, one"
      " stream | as many streams as stages |\n|---|---|--:|--:|--:|--:|--:|--:|\n");
  for (const Slot& slot : kSlots) {
    for (const bool peer : {true, false}) {
      for (const size_t n : {2, 3, 4}) {
        const LinkSpeed link = link_of(slot.bytes_per_s, peer);
        const Speeds shards = predict_shards(model.work, kR9700, link, n, kContext, kChunk);
        const Speeds stages =
            predict_stages(model.work, kR9700, link, n, kContext, kChunk, kChunks);
        fmt::print("| {} | {} | {} | {:.2f}x | {:.2f}x | {:.2f}x | {:.2f}x | {:.2f}x |\n",
                   slot.name, peer ? "peer" : "host", n, shards.prefill / one.prefill,
                   shards.decode / one.decode, stages.prefill / one.prefill,
                   stages.decode / one.decode, stages.decode_all / one.decode);
      }
    }
  }
}

void compare(std::string_view what, double predicted, double published, std::string_view unit) {
  fmt::print("| {} | {:.1f} {} | {:.1f} {} | {:.2f} |\n", what, predicted, unit, published, unit,
             predicted / published);
}

double gigabytes_per_s(const LinkSpeed& link, double bytes) {
  return bytes / all_reduce_seconds(link, 2, bytes) / kGiga;
}

// ../shared/reference/seed-facts.md, by its sections.
void print_published() {
  fmt::print("\n| Published | model says | measured by its owner | ratio |\n|---|--:|--:|--:|\n");
  constexpr double kBytes = 256 << 20;
  LinkSpeed xtx_host = link_of(6.04 * kGiga, false);
  compare("2.1 all-reduce 256 MB, 2 x XTX on a switch, through the host",
          gigabytes_per_s(xtx_host, kBytes), 2.33, "GB/s");
  compare("2.1 the same with peer access", gigabytes_per_s(link_of(6.04 * kGiga, true), kBytes),
          7.04, "GB/s");
  compare("2.2 all-reduce 256 MB, 2 x R9700 on root ports, peer access",
          gigabytes_per_s(link_of(12.47 * kGiga, true), kBytes), 7.186, "GB/s");
  const LinkSpeed r9700 = link_of(12.47 * kGiga, true);
  // Those servers send bf16 rows, Evener f32.
  ModelWork fp8 = dense_27b(8);
  fp8.bytes_per_value = 2;
  ModelWork four_bits = dense_27b(4.5);
  four_bits.bytes_per_value = 2;
  const Speeds tp2 = predict_shards(fp8, kR9700, r9700, 2, 8192, 2048);
  compare("6.1 27B FP8, tp 2, R9700, plain decode at 8K", tp2.decode, 21.48, "tok/s");
  compare("6.1 the same at 64K", predict_shards(fp8, kR9700, r9700, 2, 65536, 2048).decode, 16.82,
          "tok/s");
  compare("6.2 27B FP8, tp 2, R9700, prefill at 8K", tp2.prefill, 1747.7, "tok/s");
  const LinkSpeed xtx = link_of(6.04 * kGiga, true);
  compare("4.2 27B 4 bits, tp 2, XTX, prefill at 4K",
          predict_shards(four_bits, kXtx, xtx, 2, 4096, 4096).prefill, 1380, "tok/s");
  // Of two cards against one whose experts all fit: the chunk count is 128K / 4096.
  const ModelWork sparse = kModels[2].work;
  compare("5.2 mixture, layer split over 2 against 1, prefill of 128K",
          predict_stages(sparse, kR9700, r9700, 2, 0, 4096, 32).prefill /
              predict_one(sparse, kR9700, 0).prefill,
          1.704, "x");
}

}  // namespace

int main() {
  fmt::print("R9700 cards, context {:.0f}, chunks of {}, {} of them. By the cost model alone.\n",
             kContext, kChunk, kChunks);
  for (const Model& model : kModels) print_curve(model);
  print_published();
}
