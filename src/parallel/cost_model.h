#pragma once

#include <cstddef>
#include <span>

namespace evener::parallel {

// What a model costs those who compute it, all layers together.
struct ModelWork {
  size_t num_layers = 0;
  size_t hidden_size = 0;
  double weight_bytes = 0;        // read for one decode row: of a mixture, what its rows choose
  double flops_per_token = 0;     // two for each weight that a row meets
  double bytes_per_value = 4;     // of a row on its way between devices
  double kv_bytes_per_token = 0;  // of context, read for one decode row
};

// What one device reaches, not what its maker says.
struct DeviceSpeed {
  double bytes_per_s = 0;    // weights read while decoding
  double flops_per_s = 0;    // prefill
  double layer_seconds = 0;  // of a layer, whatever its size: launches, waits
};

// How devices reach each other. Without peer access data go through the host's memory: up to it,
// then down again.
struct LinkSpeed {
  double bytes_per_s = 0;      // of one device, one direction
  double latency_seconds = 0;  // of one message
  bool peer = false;
  size_t devices_a_link = 1;  // that share it, behind a switch
};

// x of `bytes` on each of n devices becomes the sum. With peers a ring: 2 (n - 1) messages, each
// the n-th part. Through the host: all of it up, summed there, all of it down.
double all_reduce_seconds(const LinkSpeed& link, size_t n, double bytes);

struct Speeds {
  double prefill = 0;     // tokens per second, of one long prompt
  double decode = 0;      // of one stream
  double decode_all = 0;  // of as many streams as there are stages
};

// One device.
Speeds predict_one(const ModelWork& work, const DeviceSpeed& device, double context);

// The layers cut over n equal devices: each has the n-th part and waits twice a layer for the sums
// of `chunk` rows.
Speeds predict_shards(const ModelWork& work, const DeviceSpeed& device, const LinkSpeed& link,
                      size_t n, double context, size_t chunk);

// n equal groups of layers on equal devices, a prompt of num_chunks chunks flowing through: the
// pipe is filled and drained once.
Speeds predict_stages(const ModelWork& work, const DeviceSpeed& device, const LinkSpeed& link,
                      size_t n, double context, size_t chunk, size_t num_chunks);

}  // namespace evener::parallel
