#include "host/run_program.h"

#include <gtest/gtest.h>

namespace evener::host {
namespace {

Result<std::string> shell(const std::string& script, const ProgramLimits& limits = {}) {
  return run_program("/bin/sh", {"-c", script}, limits);
}

TEST(RunProgram, GivesWhatItPrinted) {
  const auto output = shell("cat; echo $LC_ALL; echo no >&2");
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(*output, "C\n");
}

TEST(RunProgram, TellsHowItEnded) {
  EXPECT_EQ(shell("exit 3").error().why, "ended with status 3");
  EXPECT_EQ(shell("kill -9 $$").error().why, "was ended by signal 9");
  EXPECT_FALSE(run_program("/no/such/program", {}, {}).has_value());
}

TEST(RunProgram, EndsOneThatTakesTooLong) {
  const auto started = std::chrono::steady_clock::now();
  const ProgramLimits limits = {.time = std::chrono::milliseconds(50)};
  EXPECT_EQ(shell("exec tail -f /dev/null", limits).error().why, "took too long");
  EXPECT_EQ(shell("exec >&-; exec sleep 1000", limits).error().why, "took too long");
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(60));
}

TEST(RunProgram, EndsOneThatPrintsWithoutEnd) {
  EXPECT_EQ(shell("yes", {.output_bytes = 5000}).error().why, "printed more than 5000 bytes");
}

TEST(RunProgram, LooksForProgramsInFoldersOfTheSystemOnly) {
  EXPECT_TRUE(find_program("env").has_value());
  EXPECT_FALSE(find_program("no-such-program").has_value());
}

}  // namespace
}  // namespace evener::host
