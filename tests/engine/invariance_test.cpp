// The contract of DESIGN section 4: what a sequence says does not depend on chunk size, on who else
// is in the batch, or on when they come and go. Compared for equality.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/mixed_requests.h"
#include "engine/models.h"

namespace evener::engine {
namespace {

class Invariance : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Engine> start_with(size_t prefill_chunk, size_t max_sequences) {
    EngineOptions options = small_options(GetParam());
    options.prefill_chunk = prefill_chunk;
    options.max_sequences = max_sequences;
    return start(options);
  }
};

TEST_P(Invariance, ChunksAndCompanionsChangeNothing) {
  const std::vector<Said> expected = one_after_the_other(*start_with(512, 1));
  for (const size_t chunk : {1, 7, 64, 512}) {
    SCOPED_TRACE("chunk " + std::to_string(chunk));
    EXPECT_EQ(one_after_the_other(*start_with(chunk, 1)), expected);
    const auto engine = start_with(chunk, kNumSequences);
    EXPECT_EQ(together(*engine, 0), expected);
    EXPECT_EQ(together(*engine, 3), expected) << "on pages and slots that others have used";
    EXPECT_EQ(together(*start_with(chunk, 3), 1), expected) << "waiting for a place";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Invariance,
                         testing::Values("llama", "qwen3", "qwen35", "qwen35moe", "llama256-Q4_K",
                                         "qwen35moe256-Q4_K_M", ""),
                         [](const auto& param) {
                           std::string name = param.param.empty() ? "bundled" : param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace evener::engine
