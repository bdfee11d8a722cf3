// Any bytes as the file in which `evener tune` keeps a layout: what is taken can be laid out, and
// is the same after it was written and read again. Seeds: tests/data/fuzz/tuned.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "tune/tuned.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tuned = tune::parse_tuned(text, "fuzz", {});
  if (!tuned) return 0;
  const tune::Trial& trial = tuned->trial;
  EVENER_ASSERT(trial.num_stages * trial.num_shards == trial.devices.size());
  EVENER_ASSERT(trial.ratio.empty() || trial.ratio.size() == trial.num_shards);
  const auto again = tune::parse_tuned(tune::text_of(*tuned), "fuzz", {});
  EVENER_ASSERT(again && again->trial == trial);
  return 0;
}
