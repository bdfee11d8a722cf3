#pragma once

#include <atomic>
#include <string>

#include "bench/server.h"
#include "bench/server/kind.h"

namespace evener::bench {

// A server of one of the kinds.
class RemoteServer : public Server {
 public:
  // `client` must outlive this.
  RemoteServer(Client& client, const Kind& kind, ServerFacts facts)
      : client_(client), kind_(kind), facts_(std::move(facts)) {}

  const ServerFacts& facts() const override { return facts_; }
  Status flush_cache() override;
  Result<uint64_t> count_tokens(std::string_view text) override;
  Result<std::map<std::string, double>> metrics() override;
  std::optional<uint64_t> resident_bytes() override;

 private:
  Status flush_when_idle();
  Status prove_flush();
  std::optional<uint64_t> num_cached_of(const std::string& prompt);

  Client& client_;
  const Kind& kind_;
  ServerFacts facts_;
  std::atomic<bool> flush_proven_ = false;
};

// Tokens of `text` by a server of this kind.
Result<uint64_t> count_tokens_by(Client& client, const Kind& kind, const ServerFacts& facts,
                                 std::string_view text);

}  // namespace evener::bench
