#include "cli/open_run.h"

#include "base/log.h"
#include "engine/layout_plan.h"

namespace evener::cli {

void add_device_options(CommandLine& line, DeviceOptions& options) {
  options.parallel.add_to(line);
  line.add("--threads", options.num_threads,
           "threads that compute on each CPU; 0: one per physical core")
      .between(0, 1024);
}

Result<engine::LogitsRun> open_run(const std::shared_ptr<const gguf::File>& model,
                                   const DeviceOptions& devices, engine::LogitsRunOptions options,
                                   const model::LoadProgress& progress) {
  engine::PlanOptions wanted{.parallel = {},
                             .num_threads = devices.num_threads,
                             .num_tokens = options.num_tokens_max,
                             .num_rows = options.chunk,
                             .num_logit_rows = options.chunk,
                             .kv_type = options.kv_type};
  RETURN_IF_ERROR(devices.parallel.apply(wanted.parallel));
  ASSIGN_OR_RETURN(const engine::RankPlan plan, engine::plan_ranks(*model, wanted));
  if (!plan.why.empty()) log::info("{}", plan.why);
  options.num_threads = devices.num_threads;
  options.peer = wanted.parallel.peer;
  return engine::LogitsRun::create(model, plan, options, progress);
}

}  // namespace evener::cli
