#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cpu/cpu_node.h"
#include "engine/engine.h"
#include "engine/layout_plan.h"
#include "engine/load.h"

namespace evener::engine {

// A core for each rank, while there are any; then they share.
inline RankPlan plan_of(parallel::Layout layout) {
  const size_t num_cores = device::cpu::read_cpu_node(0)->cpus.size();
  RankPlan plan{.layout = std::move(layout), .devices = {}, .why = {}};
  for (size_t rank = 0; rank < plan.layout.grid().num_ranks(); ++rank) {
    plan.devices.push_back("cpu:0[" + std::to_string(rank % num_cores) + "]");
  }
  return plan;
}

inline std::unique_ptr<Engine> start_over(EngineOptions options, const RankPlan& plan) {
  options.num_threads = 0;
  options.parallel.devices = plan.devices;
  auto loaded = load(options, plan, {});
  EXPECT_TRUE(loaded.has_value()) << to_string(loaded.error());
  return Engine::create(*std::move(loaded), options);
}

}  // namespace evener::engine
