// How a server of our own fails; how it runs is told by tests/e2e/bench_e2e.py.
#include "bench/own_server.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "bench/cpu_share.h"

namespace evener::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const OwnServer::Progress kWait = [](const std::string&, double) { return true; };

std::string program_that_says(const std::string& name, const std::string& lines) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << "#!/bin/sh\n" << lines << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(OwnServer, TellsWhatItSaidBeforeItEnded) {
  OwnServerOptions options;
  options.program = program_that_says("own_server_ends", "echo no such model >&2; exit 3");
  const auto server = OwnServer::start(options, kWait);
  ASSERT_FALSE(server);
  EXPECT_EQ(to_string(server.error()),
            "cannot start a server to measure: evener serve: it ended with status 3; it said:\n"
            "  | no such model");
}

TEST(OwnServer, TellsTheSignalThatEndedIt) {
  OwnServerOptions options;
  options.program = program_that_says("own_server_killed", "kill -9 $$");
  const auto server = OwnServer::start(options, kWait);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().why, HasSubstr("it was ended by signal 9"));
}

TEST(OwnServer, GetsTheKeyByItsEnvironment) {
  OwnServerOptions options;
  options.program = program_that_says("own_server_key", "echo \"$EVENER_API_KEY $*\"");
  options.arguments = {"--ctx", "77"};
  options.api_key = "secret";
  const auto server = OwnServer::start(options, kWait);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().why, HasSubstr("| secret serve --host 127.0.0.1 --port "));
  EXPECT_THAT(server.error().why, HasSubstr(" --ctx 77"));
}

TEST(OwnServer, IsEndedWhenNobodyWantsToWait) {
  OwnServerOptions options;
  options.program = program_that_says("own_server_waits", "exec sleep 1000");
  const auto server = OwnServer::start(options, [](const std::string&, double) { return false; });
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, Code::cancelled);
}

TEST(OwnServer, IsGivenUpAfterItsTime) {
  OwnServerOptions options;
  options.program = program_that_says("own_server_hangs", "exec sleep 1000");
  options.patience = std::chrono::milliseconds(1);
  const auto server = OwnServer::start(options, kWait);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().why, HasSubstr("it is not ready after"));
}

TEST(OwnServer, MustBeThere) {
  OwnServerOptions options;
  options.program = "/nonexistent/evener";
  const auto server = OwnServer::start(options, kWait);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, Code::not_found);
}

// Four cores of two threads each, the second threads numbered after all first ones.
host::FileTree eight_threads() {
  const std::filesystem::path root = testing::TempDir() + "/cpu_share";
  for (int cpu = 0; cpu < 8; ++cpu) {
    const auto folder =
        root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "thread_siblings_list") << cpu % 4 << "," << cpu % 4 + 4 << "\n";
  }
  return host::FileTree(root);
}

TEST(CpuShare, GivesTheClientTheLastCore) {
  const CpuShare share = share_cpus({0, 1, 2, 3, 4, 5, 6, 7}, eight_threads());
  EXPECT_THAT(share.client, ElementsAre(3, 7));
  EXPECT_THAT(share.server, ElementsAre(0, 1, 2, 4, 5, 6));
}

TEST(CpuShare, DividesNothingWhereThereIsTooLittle) {
  EXPECT_THAT(share_cpus({0, 1, 4, 5}, eight_threads()).client, ElementsAre());
  EXPECT_THAT(share_cpus({0, 1, 2, 3}, host::FileTree("/nonexistent")).client, ElementsAre(3));
}

}  // namespace
}  // namespace evener::bench
