#include "cli/tuned_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/environment.h"
#include "base/log.h"
#include "device/create_device.h"
#include "tune/tuned.h"

namespace evener::cli {
namespace {

void use_tuned_layout(engine::EngineOptions& options) {
  const std::filesystem::path folder = tuned_folder();
  if (folder.empty()) return;
  const auto subject = tune::subject_of(options.model);
  if (!subject) return;  // the loader says why
  const auto tuned = tune::find_tuned(folder, *subject);
  if (!tuned) {
    log::warning("{}", to_string(tuned.error()));
    return;
  }
  if (!*tuned) return;
  const tune::Trial& trial = (*tuned)->trial;
  if (const Status there = device::check_devices(trial.devices); !there) {
    log::warning("what evener tune found is not used: {}", to_string(there.error()));
    return;
  }
  log::info("evener tune found on {}: {} on {} is best for this model here; --devices overrides",
            (*tuned)->when.substr(0, 10), tune::to_string(trial), fmt::join(trial.devices, ", "));
  apply(trial, options.parallel);
  const bool chunk_is_chosen = options.prefill_chunk != engine::EngineOptions().prefill_chunk;
  if (!chunk_is_chosen) options.prefill_chunk = trial.chunk;
}

}  // namespace

std::filesystem::path tuned_folder() {
  const std::filesystem::path folder = state_folder();
  return folder.empty() ? folder : folder / "tune";
}

void apply(const tune::Trial& trial, engine::ParallelOptions& parallel) {
  parallel.devices = trial.devices;
  parallel.num_shards = trial.num_shards;
  parallel.num_stages = trial.num_stages;
  parallel.borders = trial.borders;
  parallel.ratio = trial.ratio;
}

Status decide_layout(const ParallelWords& words, engine::EngineOptions& options) {
  RETURN_IF_ERROR(words.apply(options.parallel));
  if (words.says_nothing()) use_tuned_layout(options);
  return {};
}

}  // namespace evener::cli
