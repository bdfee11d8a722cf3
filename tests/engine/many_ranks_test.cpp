// What ranks say together. Layer split: the same bits as one rank. Tensor parallel: other roundings
// than one rank, but the same from run to run and whoever else is in the batch. Compared for
// equality.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/mixed_requests.h"
#include "engine/models.h"
#include "engine/open_model.h"
#include "engine/rank_plans.h"
#include "model/loader.h"

namespace evener::engine {
namespace {

using parallel::Layout;

class SeveralRanks : public testing::TestWithParam<std::string> {
 protected:
  static EngineOptions options() {
    EngineOptions options = small_options(GetParam());
    options.max_sequences = kNumSequences;
    return options;
  }
  static size_t num_layers() {
    return model::read_config(*open_model(model_path(GetParam())))->num_layers;
  }
  static std::unique_ptr<Engine> start_with(const Layout& layout) {
    return start_over(options(), plan_of(layout));
  }
};

TEST_P(SeveralRanks, StagesSayWhatOneRankSays) {
  const std::vector<Said> expected = together(*start(options()), 1);
  for (const std::vector<size_t>& borders : {std::vector<size_t>{1}, {1, 2}}) {
    if (borders.back() >= num_layers()) continue;
    SCOPED_TRACE(std::to_string(borders.size() + 1) + " stages");
    const auto engine = start_with({.borders = borders});
    EXPECT_EQ(together(*engine, 0), expected);
    EXPECT_EQ(together(*engine, 3), expected) << "on pages and slots that others have used";
  }
}

TEST_P(SeveralRanks, ShardsSayTheSameWhoeverElseIsThere) {
  const auto engine = start_with({.ratio = {1, 1}});
  const std::vector<Said> expected = one_after_the_other(*engine);
  EXPECT_EQ(together(*engine, 2), expected);
  EXPECT_EQ(together(*start_with({.ratio = {1, 1}}), 0), expected) << "another run";
}

TEST_P(SeveralRanks, StagesOfShardsSayWhatShardsSay) {
  if (num_layers() < 2) return;
  const auto engine = start_with({.ratio = {1, 1}});
  EXPECT_EQ(together(*start_with({.borders = {1}, .ratio = {1, 1}}), 1), together(*engine, 1));
}

INSTANTIATE_TEST_SUITE_P(Models, SeveralRanks,
                         testing::Values("llama", "qwen3", "qwen35", "qwen35moe", "llama256-Q4_K"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace evener::engine
