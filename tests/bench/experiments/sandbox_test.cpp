#include "bench/experiments/sandbox.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "host/run_program.h"

namespace evener::bench {
namespace {

// Code that nobody has read tries to get out. Each of these is tried by code that reports to us
// what it could do, so that a sandbox which does nothing at all fails the test.
class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto bubblewrap = host::find_program("bwrap");
    if (!bubblewrap) GTEST_SKIP() << "bubblewrap is not installed";
    const auto plain =
        host::run_program(*bubblewrap, {"--unshare-all", "--ro-bind", "/", "/", "/bin/true"}, {});
    if (!plain) GTEST_SKIP() << "no sandbox here: " << plain.error().why;
    auto sandbox = Sandbox::open();
    ASSERT_TRUE(sandbox) << to_string(sandbox.error());
    sandbox_.emplace(*std::move(sandbox));
  }
  Result<std::string> run(const std::string& script, Sandbox::Limits limits = {}) const {
    return sandbox_->run(script, {"one", "two words"}, limits);
  }
  std::string prints(const std::string& script) const {
    const auto printed = run(script);
    return printed ? *printed : to_string(printed.error());
  }

 private:
  std::optional<Sandbox> sandbox_;
};

TEST_F(SandboxTest, RunsCodeAndHandsBackWhatItPrints) {
  EXPECT_EQ(prints("import sys\nprint(sum(range(10)), sys.argv[1:])"), "45 ['one', 'two words']\n");
}

TEST_F(SandboxTest, HasNoNetwork) {
  EXPECT_EQ(prints("import socket\n"
                   "s = socket.socket()\n"
                   "s.settimeout(2)\n"
                   "try:\n"
                   "    s.connect(('192.0.2.1', 80))\n"
                   "    print('connected')\n"
                   "except OSError as error:\n"
                   "    print(type(error).__name__, error.errno)"),
            "OSError 101\n");
}

TEST_F(SandboxTest, HasNoPlaceToWriteToAndSeesNobodysFiles) {
  EXPECT_EQ(prints("import os\n"
                   "written = []\n"
                   "for folder, names, files in os.walk('/'):\n"
                   "    if folder.startswith('/usr/'): names.clear()\n"
                   "    try:\n"
                   "        with open(os.path.join(folder, 'x'), 'w') as f:\n"
                   "            f.write('x')\n"
                   "        written.append(folder)\n"
                   "    except OSError: pass\n"
                   "print(written, sorted(os.listdir('/')))"),
            "[] ['bin', 'dev', 'lib', 'lib64', 'usr']\n");
}

TEST_F(SandboxTest, SeesNoOtherProcessAndNoEnvironment) {
  EXPECT_EQ(prints("import os\n"
                   "alone = 0\n"
                   "for pid in range(3, 40000):\n"
                   "    try:\n"
                   "        os.kill(pid, 0)\n"
                   "        alone = pid\n"
                   "    except OSError: pass\n"
                   "print(alone, sorted(set(os.environ) - {'PATH', 'LC_ALL', 'LC_CTYPE', 'PWD'}))"),
            "0 []\n");
}

TEST_F(SandboxTest, EndsAForkBomb) {
  const auto bomb = run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
                        {.time = std::chrono::milliseconds(1500)});
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().code, Code::unavailable);
}

TEST_F(SandboxTest, EndsAnEndlessLoop) {
  const auto loop = run("while True: pass", {.time = std::chrono::milliseconds(1500)});
  ASSERT_FALSE(loop);
  EXPECT_EQ(loop.error().code, Code::unavailable);
}

TEST_F(SandboxTest, EndsWhatIgnoresEverySignal) {
  const auto stubborn =
      run("import signal\n"
          "for s in range(1, 65):\n"
          "    try: signal.signal(s, signal.SIG_IGN)\n"
          "    except (OSError, ValueError): pass\n"
          "signal.pause()",
          {.time = std::chrono::milliseconds(500)});
  ASSERT_FALSE(stubborn);
  EXPECT_EQ(stubborn.error().why, "took too long");
}

TEST_F(SandboxTest, CutsHugeOutput) {
  const auto huge = run("while True: print('x' * 1000)", {.output_bytes = 10'000});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, Code::limit_exceeded);
}

TEST_F(SandboxTest, LimitsMemoryAndKeepsItsLimits) {
  EXPECT_EQ(prints("import resource\n"
                   "try:\n"
                   "    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))\n"
                   "    print('lifted')\n"
                   "except (OSError, ValueError): pass\n"
                   "try:\n"
                   "    bytearray(1 << 30)\n"
                   "    print('a GiB')\n"
                   "except MemoryError: print('held')"),
            "held\n");
}

TEST_F(SandboxTest, RefusesCodeThatFitsNoCommandLine) {
  const auto refused = run(std::string(200'000, '#'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::limit_exceeded);
}

}  // namespace
}  // namespace evener::bench
