#pragma once

#include <memory>
#include <thread>

#include "engine/rank_desk.h"
#include "engine/rank_link.h"
#include "engine/seated_rank.h"

namespace evener::engine {

// A rank on a thread of its own.
class RankThread final : public RankLink {
 public:
  RankThread(SeatedRank::Options options, std::shared_ptr<RankDesk> desk);
  ~RankThread() override;

  void post(RankCommand command) override;
  size_t page_bytes() const override;
  size_t state_bytes() const override;
  void break_with(const Error& error) override;
  std::chrono::nanoseconds silent_for() const override;
  void close() override;
  // What the thread uses stays.
  void give_up() override;

 private:
  class Body;
  std::shared_ptr<Body> body_;
  std::thread thread_;
};

}  // namespace evener::engine
