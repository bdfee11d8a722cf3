// How memory is shared out, by hand-worked sums.
#include "engine/capacity.h"

#include <gtest/gtest.h>

namespace evener::engine {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

CapacityRequest request() {
  return {.where = "m.gguf",
          .weight_bytes = 100 * kMiB,
          .scratch_bytes = 20 * kMiB,
          .bytes_per_page = kMiB,
          .bytes_per_slot = 0,
          .page_size = 64,
          .context_length = 64 * 16,
          .context_is_must = false,
          .max_sequences = 4,
          .available_bytes = 1000 * kMiB};
}

TEST(Capacity, WithPlentyOfMemoryEverySequenceGetsItsFullLength) {
  const auto capacity = plan_capacity(request());
  ASSERT_TRUE(capacity.has_value());
  EXPECT_EQ(capacity->num_pages, 64U);
  EXPECT_EQ(capacity->num_slots, 0U);
  EXPECT_EQ(capacity->max_sequences, 4U);
  EXPECT_EQ(capacity->admissible_tokens, 1024U);
}

TEST(Capacity, WithLessThereAreFewerPagesThenAShorterContext) {
  CapacityRequest r = request();
  r.available_bytes = 140 * kMiB;
  auto capacity = plan_capacity(r);
  ASSERT_TRUE(capacity.has_value());
  EXPECT_EQ(capacity->num_pages, 20U);
  EXPECT_EQ(capacity->admissible_tokens, 1024U);

  r.available_bytes = 130 * kMiB;
  capacity = plan_capacity(r);
  ASSERT_TRUE(capacity.has_value());
  EXPECT_EQ(capacity->num_pages, 10U);
  EXPECT_EQ(capacity->admissible_tokens, 640U);
}

TEST(Capacity, ANamedContextIsNotShortened) {
  CapacityRequest r = request();
  r.available_bytes = 130 * kMiB;
  r.context_is_must = true;
  const auto capacity = plan_capacity(r);
  ASSERT_FALSE(capacity.has_value());
  EXPECT_EQ(capacity.error().code, Code::out_of_memory);
  EXPECT_EQ(to_string(capacity.error()),
            "cannot load model: m.gguf: needs 136 MiB (100 MiB weights + 20.0 MiB scratch + 16.0 "
            "MiB for one context of 1024 tokens), 130 MiB are available: 6.00 MiB too few\n"
            "  free memory, ask for a shorter context, take a smaller quantisation, or share the "
            "model between devices (--devices)");
}

TEST(Capacity, StateSlotsTakeAtMostHalfOfWhatIsLeft) {
  CapacityRequest r = request();
  r.bytes_per_slot = 10 * kMiB;
  r.available_bytes = 100 * kMiB + 20 * kMiB + 8 * kMiB + 10 * kMiB + 30 * kMiB;
  const auto capacity = plan_capacity(r);
  ASSERT_TRUE(capacity.has_value());
  EXPECT_EQ(capacity->num_slots, 2U) << "one of the least sequence, one of the 30 MiB left";
  EXPECT_EQ(capacity->max_sequences, 2U);
  EXPECT_EQ(capacity->num_pages, 28U);
}

TEST(Capacity, AbsurdSizesAreAnErrorNotAnOverflow) {
  CapacityRequest r = request();
  r.bytes_per_page = SIZE_MAX / 4;
  r.context_is_must = true;
  EXPECT_FALSE(plan_capacity(r).has_value());
  r = request();
  r.weight_bytes = SIZE_MAX - 5;
  EXPECT_FALSE(plan_capacity(r).has_value());
}

TEST(Capacity, PagesThatCostNothingAreStillBounded) {
  CapacityRequest r = request();
  r.bytes_per_page = 0;
  r.context_length = INT32_MAX;
  r.max_sequences = 1024;
  const auto capacity = plan_capacity(r);
  ASSERT_TRUE(capacity.has_value());
  EXPECT_LE(capacity->num_pages, size_t{1} << 22);
  EXPECT_EQ(capacity->admissible_tokens, capacity->num_pages * 64);
}

}  // namespace
}  // namespace evener::engine
