#include "parallel/rank_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::parallel {
namespace {

using testing::ElementsAre;

Error cannot_open(std::string where) {
  return {.code = Code::not_found,
          .doing = "load model",
          .where = std::move(where),
          .why = "the file cannot be opened",
          .remedy = {}};
}

TEST(ErrorOfRank, NamesTheRankOnce) {
  const RankNames names(12, {"rank 0 (a cpu:0)", "rank 1 (b cpu:0)"});
  const Error error = error_of_rank(names, 1, cannot_open("m.gguf"));
  EXPECT_EQ(error.where, "rank 1 (b cpu:0), m.gguf");
  EXPECT_THAT(failed_ranks(names, error).ranks, ElementsAre(1));
  EXPECT_EQ(error_of_rank(names, 0, error).where, error.where);
  EXPECT_EQ(error_of_rank(names, 11, cannot_open("")).where, "rank 11");
}

}  // namespace
}  // namespace evener::parallel
