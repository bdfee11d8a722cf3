#include "tensor/dtype.h"

#include <gtest/gtest.h>

namespace evener {
namespace {

TEST(DType, TableIsAscendingAndComplete) {
  for (size_t i = 1; i < kNumDTypes; ++i) EXPECT_LT(kDTypes[i - 1].dtype, kDTypes[i].dtype);
  for (size_t i = 0; i < kNumDTypes; ++i) EXPECT_EQ(info(kDTypes[i].dtype).name, kDTypes[i].name);
}

TEST(DType, UnknownAndRetiredNumbersAreNotTypes) {
  for (const uint32_t id : {4u, 5u, 31u, 36u, 38u, 43u, 0xffffffffu})
    EXPECT_FALSE(dtype_from_id(id)) << id;
  EXPECT_EQ(dtype_from_id(12), DType::Q4_K);
}

TEST(DType, NamesAreFoundInAnyCase) {
  EXPECT_EQ(dtype_from_name("q4_k"), DType::Q4_K);
  EXPECT_EQ(dtype_from_name("IQ2_XXS"), DType::IQ2_XXS);
  EXPECT_FALSE(dtype_from_name("Q4"));
}

}  // namespace
}  // namespace evener
