#include "base/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/temporary_folder.h"

namespace evener {
namespace {

TEST(PrivateFile, AFileIsWrittenForItsOwnerAlone) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.tar.gz";
  ASSERT_TRUE(write_private_file(path, "first", "write snapshot").has_value());
  ASSERT_TRUE(write_private_file(path, "second", "write snapshot").has_value());
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(info.st_size, 6);
  const Status refused =
      write_private_file(folder.path() / "no" / "s.tar.gz", "x", "write snapshot");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::not_found);
  EXPECT_EQ(refused.error().doing, "write snapshot");
}

}  // namespace
}  // namespace evener
