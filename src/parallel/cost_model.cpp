#include "parallel/cost_model.h"

namespace evener::parallel {
namespace {

double layers(const ModelWork& work) { return static_cast<double>(work.num_layers); }

double row_bytes(const ModelWork& work) {
  return work.bytes_per_value * static_cast<double>(work.hidden_size);
}

// All of the layers on one device.
double decode_seconds(const ModelWork& work, const DeviceSpeed& device, double context) {
  return (work.weight_bytes + context * work.kv_bytes_per_token) / device.bytes_per_s +
         layers(work) * device.layer_seconds;
}

double prefill_seconds(const ModelWork& work, const DeviceSpeed& device, size_t chunk) {
  return static_cast<double>(chunk) * work.flops_per_token / device.flops_per_s +
         layers(work) * device.layer_seconds;
}

// From one device to another.
double send_seconds(const LinkSpeed& link, double bytes) {
  const double ways = link.peer ? 1 : 2;
  return ways * (link.latency_seconds +
                 bytes * static_cast<double>(link.devices_a_link) / link.bytes_per_s);
}

}  // namespace

double all_reduce_seconds(const LinkSpeed& link, size_t n, double bytes) {
  if (n < 2) return 0;
  const auto count = static_cast<double>(n);
  if (link.peer) {
    return 2 * (count - 1) * (link.latency_seconds + bytes / count / link.bytes_per_s);
  }
  return send_seconds(link, bytes);
}

Speeds predict_one(const ModelWork& work, const DeviceSpeed& device, double context) {
  constexpr size_t kChunk = 2048;  // the fixed cost of a layer is nothing beside it
  const double decode = 1 / decode_seconds(work, device, context);
  return {.prefill = kChunk / prefill_seconds(work, device, kChunk),
          .decode = decode,
          .decode_all = decode};
}

Speeds predict_shards(const ModelWork& work, const DeviceSpeed& device, const LinkSpeed& link,
                      size_t n, double context, size_t chunk) {
  ModelWork share = work;
  share.weight_bytes /= static_cast<double>(n);
  share.flops_per_token /= static_cast<double>(n);
  share.kv_bytes_per_token /= static_cast<double>(n);
  const double sums = 2 * layers(work);
  const double decode = 1 / (decode_seconds(share, device, context) +
                             sums * all_reduce_seconds(link, n, row_bytes(work)));
  const auto rows = static_cast<double>(chunk);
  const double prefill = rows / (prefill_seconds(share, device, chunk) +
                                 sums * all_reduce_seconds(link, n, rows * row_bytes(work)));
  return {.prefill = prefill, .decode = decode, .decode_all = decode};
}

Speeds predict_stages(const ModelWork& work, const DeviceSpeed& device, const LinkSpeed& link,
                      size_t n, double context, size_t chunk, size_t num_chunks) {
  const auto count = static_cast<double>(n);
  const auto rows = static_cast<double>(chunk);
  const double handover = n < 2 ? 0 : send_seconds(link, row_bytes(work));
  const double step = decode_seconds(work, device, context) + (count - 1) * handover;
  // A stage hands a chunk over before it takes the next.
  const double stage = prefill_seconds(work, device, chunk) / count +
                       (n < 2 ? 0 : send_seconds(link, rows * row_bytes(work)));
  const auto chunks = static_cast<double>(num_chunks);
  return {.prefill = rows * chunks / ((chunks + count - 1) * stage),
          .decode = 1 / step,
          .decode_all = count / step};
}

}  // namespace evener::parallel
