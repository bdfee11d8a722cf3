// What --verify compares with: the facts of the start of the machine before the present one.
#include "cli/saved_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "host/facts_json.h"

namespace evener::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SavedFactsTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_STATE_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("XDG_STATE_HOME"); }

  static host::HostFacts kernel(const std::string& release) {
    host::HostFacts facts;
    facts.kernel.release = release;
    return facts;
  }
  // As if it had been saved `hours` ago by another start of the machine.
  void save_earlier_start(const std::string& name, int hours) const {
    const fs::path path = folder_.path() / "evener" / "doctor" / (name + ".json");
    fs::create_directories(path.parent_path());
    std::ofstream(path) << host::facts_to_json(kernel(name));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  size_t num_files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         fs::directory_iterator(folder_.path() / "evener/doctor")) {
      ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
};

TEST_F(SavedFactsTest, AreNotThereBeforeTheFirstRun) {
  const auto earlier = earlier_facts();
  ASSERT_FALSE(earlier);
  EXPECT_EQ(earlier.error().code, Code::not_found);
  EXPECT_THAT(to_string(earlier.error()), HasSubstr("nothing has been saved there"));
}

TEST_F(SavedFactsTest, OfThePresentStartServeWhereThereAreNoOthers) {
  ASSERT_TRUE(save_facts(kernel("7.0.14")));
  const auto path = save_facts(kernel("7.0.15"));
  ASSERT_TRUE(path);
  const auto earlier = earlier_facts();
  ASSERT_TRUE(earlier) << to_string(earlier.error());
  EXPECT_EQ(earlier->facts.kernel.release, "7.0.15");
  EXPECT_EQ(earlier->path, *path);
  EXPECT_EQ(num_files(), 1U);
}

TEST_F(SavedFactsTest, OfTheLatestOtherStartComeFirst) {
  save_earlier_start("long-ago", 48);
  save_earlier_start("before", 2);
  ASSERT_TRUE(save_facts(kernel("now")));
  const auto earlier = earlier_facts();
  ASSERT_TRUE(earlier) << to_string(earlier.error());
  EXPECT_EQ(earlier->facts.kernel.release, "before");
}

TEST_F(SavedFactsTest, AreKeptOfTenStarts) {
  for (int i = 1; i <= 12; ++i) save_earlier_start("start-" + std::to_string(i), i);
  ASSERT_TRUE(save_facts(kernel("now")));
  EXPECT_EQ(num_files(), 10U);
  EXPECT_TRUE(fs::exists(folder_.path() / "evener/doctor/start-9.json"));
  EXPECT_FALSE(fs::exists(folder_.path() / "evener/doctor/start-10.json"));
}

TEST_F(SavedFactsTest, AreTheOwnersAlone) {
  const auto path = save_facts(kernel("7.0.14"));
  ASSERT_TRUE(path);
  struct stat info{};
  ASSERT_EQ(::stat(path->c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(SavedFactsTest, NeedAFolderThatCanBeMade) {
  std::ofstream(folder_.path() / "evener") << "a file is in the way";
  const auto path = save_facts(kernel("7.0.14"));
  ASSERT_FALSE(path);
  EXPECT_THAT(to_string(path.error()), HasSubstr("set XDG_STATE_HOME to a folder"));
}

TEST_F(SavedFactsTest, ThatAreDamagedAreAnErrorAndNoCrash) {
  const auto path = save_facts(kernel("7.0.14"));
  ASSERT_TRUE(path);
  std::ofstream(*path) << "{\"schema\":1,";
  EXPECT_FALSE(earlier_facts());
}

}  // namespace
}  // namespace evener::cli
