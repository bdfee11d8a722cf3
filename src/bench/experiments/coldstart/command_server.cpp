#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/experiments/coldstart/started_server.h"

extern char** environ;

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{10};
constexpr milliseconds kEndPatience{30'000};
constexpr milliseconds kKillPatience{5'000};
constexpr off_t kLogBytesMax = 64 << 10;

Error cannot_start(const std::string& command, std::string why) {
  return {.code = Code::unavailable,
          .doing = "start the server",
          .where = command,
          .why = std::move(why),
          .remedy = {}};
}

// A file without a name, which is gone with its last user.
int open_log() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "evener-log-XXXXXX").string();
  if (error) return -1;
  const int file = ::mkostemp(path.data(), O_CLOEXEC | O_APPEND);
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

std::string in_words(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  return fmt::format("it ended with status {}", WEXITSTATUS(status));
}

class CommandServer : public StartedServer {
 public:
  explicit CommandServer(std::string command) : command_(std::move(command)) {}
  ~CommandServer() override {
    const Status stopped = stop();
    static_cast<void>(stopped);
    if (log_ >= 0) ::close(log_);
  }
  CommandServer(const CommandServer&) = delete;
  CommandServer& operator=(const CommandServer&) = delete;

  Result<Clock::time_point> start() override {
    if (log_ >= 0) ::close(log_);
    log_ = open_log();
    if (log_ < 0) return cannot_start(command_, "no file for its log can be made");
    ended_.reset();
    const Clock::time_point began = Clock::now();
    if (const int error = spawn(); error != 0) {
      group_ = -1;
      return cannot_start(command_, std::strerror(error));
    }
    return began;
  }

  std::string how_it_ended() override {
    reap();
    return ended_ ? in_words(*ended_) : std::string();
  }

  bool is_own(pid_t pid) const override { return group_ > 0 && descends_from(pid, group_); }

  std::string log() const override {
    const off_t size = log_ < 0 ? 0 : ::lseek(log_, 0, SEEK_END);
    if (size <= 0) return {};
    std::string text(size_t(std::min(size, kLogBytesMax)), '\0');
    const ssize_t got = ::pread(log_, text.data(), text.size(), size - off_t(text.size()));
    text.resize(got > 0 ? size_t(got) : 0);
    return text;
  }

  Status stop() override {
    if (group_ <= 0) return {};
    ::kill(-group_, SIGTERM);
    if (!wait_for_end(kEndPatience)) {
      ::kill(-group_, SIGKILL);
      if (!wait_for_end(kKillPatience))
        return cannot_start(command_, "it cannot be stopped, not even by SIGKILL");
    }
    group_ = -1;
    return {};
  }

 private:
  int spawn() {
    posix_spawnattr_t attributes{};
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    sigset_t ours;  // those that our own program takes elsewhere
    sigemptyset(&ours);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&ours, number);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &ours);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, short(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, log_, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, log_, STDERR_FILENO);
    std::string shell = "/bin/sh";
    std::string option = "-c";
    std::array<char*, 4> words = {shell.data(), option.data(), command_.data(), nullptr};
    const int error =
        ::posix_spawn(&group_, shell.c_str(), &actions, &attributes, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return error;
  }

  void reap() {
    int status = 0;
    if (group_ > 0 && !ended_ && ::waitpid(group_, &status, WNOHANG) == group_) ended_ = status;
  }

  // Of all of the group: the shell may end before what it has started.
  bool wait_for_end(milliseconds patience) {
    const Clock::time_point end = Clock::now() + patience;
    while (true) {
      reap();
      if (ended_ && ::kill(-group_, 0) != 0 && errno == ESRCH) return true;
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(kLook);
    }
  }

  std::string command_;
  int log_ = -1;
  pid_t group_ = -1;  // also the shell's process, which leads it
  std::optional<int> ended_;
};

std::optional<pid_t> parent_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::stringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const size_t name_end = stat.rfind(')');  // a name may hold spaces and brackets
  if (name_end == std::string::npos || stat.size() < name_end + 5) return std::nullopt;
  pid_t parent = 0;
  const char* begin = stat.data() + name_end + 4;  // behind ") S "
  const auto [end, error] = std::from_chars(begin, stat.data() + stat.size(), parent);
  return error == std::errc() ? std::optional(parent) : std::nullopt;
}

}  // namespace

bool descends_from(pid_t pid, pid_t ancestor) {
  constexpr int kDepthMax = 64;
  for (int depth = 0; depth < kDepthMax && pid > 1; ++depth) {
    if (pid == ancestor) return true;
    const auto parent = parent_of(pid);
    if (!parent) return false;
    pid = *parent;
  }
  return false;
}

std::unique_ptr<StartedServer> make_command_server(const std::string& command) {
  return std::make_unique<CommandServer>(command);
}

}  // namespace evener::bench
