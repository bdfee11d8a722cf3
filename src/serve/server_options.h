#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";          // an address or a name that resolves to one
  uint16_t port = 8080;                    // 0: any free one, see Server::port()
  std::vector<std::string> api_keys = {};  // empty: everybody may ask
  std::string model_alias = {};            // id in /v1/models and in answers; empty: ModelFacts::id
  // Makes what GET /v1/host tells about this machine; empty: it tells nothing. Called on a worker.
  std::function<Result<std::string>()> host_report = {};

  size_t header_bytes_max = size_t{16} << 10;
  size_t body_bytes_max = size_t{64} << 20;
  size_t connections_max = 4096;
  size_t unsent_bytes_max = size_t{4} << 20;  // of one stream: a reader slower than this is let go

  std::chrono::milliseconds header_time_max{15'000};  // first byte to last byte of the header
  std::chrono::milliseconds body_time_max{300'000};   // the same of the body
  std::chrono::milliseconds idle_time_max{75'000};    // between requests of one connection
  std::chrono::milliseconds write_time_max{60'000};   // without a byte taken by the client
  std::chrono::milliseconds ping_interval{10'000};    // of silence in a stream
  std::chrono::milliseconds drain_patience{30'000};   // what stop() gives running answers

  size_t num_io_threads = 2;      // sockets and events
  size_t num_worker_threads = 2;  // parsing, templates, tokenizing
};

}  // namespace evener::serve
