#include "tensor/npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace evener {
namespace {

class Npy : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "matrix.npy";
};

TEST_F(Npy, WhatIsWrittenIsReadBack) {
  const std::vector<float> values = {1, -2, 3.5F, 0, 1e-30F, 6};
  ASSERT_TRUE(write_npy(path_, 2, 3, values).has_value());
  EXPECT_EQ(std::filesystem::file_size(path_) % 64, values.size() * 4);
  const auto matrix = read_npy(path_);
  ASSERT_TRUE(matrix.has_value()) << to_string(matrix.error());
  EXPECT_EQ(matrix->rows, 2u);
  EXPECT_EQ(matrix->cols, 3u);
  EXPECT_EQ(matrix->values, values);
}

TEST_F(Npy, EveryTruncationIsAnError) {
  ASSERT_TRUE(write_npy(path_, 2, 2, std::vector<float>{1, 2, 3, 4}).has_value());
  for (uintmax_t size = std::filesystem::file_size(path_); size-- > 0;) {
    std::filesystem::resize_file(path_, size);
    EXPECT_FALSE(read_npy(path_).has_value()) << size;
  }
}

TEST(NpyWrite, NamesAPathThatCannotBeWritten) {
  const auto status = write_npy("/nonexistent/x.npy", 1, 1, std::vector<float>{1});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(to_string(status.error()),
            "cannot write file: /nonexistent/x.npy: No such file or directory");
}

}  // namespace
}  // namespace evener
