#include "host/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace evener::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, 4> kFolders = {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/",
                                                 "/opt/rocm/bin/"};

Error failed(const std::string& path, Code code, std::string why) {
  return {.code = code, .doing = "run program", .where = path, .why = std::move(why), .remedy = {}};
}

// A child process and the end of the pipe that it prints into.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (output_ >= 0) ::close(output_);
  }

  // 0, or the error's number.
  int start(const std::string& path, const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    output_ = ends[0];
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int error = spawn(path, arguments, actions);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    return error;
  }

  // Reads until the program closes its output. The error has code and why alone.
  Status read_all(std::string& out, size_t size_max, Clock::time_point deadline) {
    std::array<char, 4096> buffer{};
    while (wait_for_output(deadline)) {
      const ssize_t count = ::read(output_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return {};
      out.append(buffer.data(), static_cast<size_t>(count));
      if (out.size() > size_max)
        return failed({}, Code::limit_exceeded,
                      fmt::format("printed more than {} bytes", size_max));
    }
    return failed({}, Code::unavailable, "took too long");
  }

  // The status that waitpid gives; nothing if the program does not end in time.
  std::optional<int> wait(Clock::time_point deadline) {
    int status = 0;
    while (true) {
      const pid_t ended = ::waitpid(process_, &status, WNOHANG);
      if (ended == process_) return status;
      if ((ended < 0 && errno != EINTR) || Clock::now() >= deadline) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // A program that hangs inside a driver does not die at once: nobody waits long for it.
  void abandon() {
    ::kill(process_, SIGKILL);
    wait(Clock::now() + std::chrono::milliseconds(200));
  }

 private:
  int spawn(const std::string& path, const std::vector<std::string>& arguments,
            const posix_spawn_file_actions_t& actions) {
    std::vector<char*> words = {const_cast<char*>(path.c_str())};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::string locale = "LC_ALL=C";
    std::string folders = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
    std::array<char*, 3> environment = {locale.data(), folders.data(), nullptr};
    return ::posix_spawn(&process_, path.c_str(), &actions, nullptr, words.data(),
                         environment.data());
  }

  bool wait_for_output(Clock::time_point deadline) const {
    pollfd waited = {.fd = output_, .events = POLLIN, .revents = 0};
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return false;
      const int ready = ::poll(&waited, 1, static_cast<int>(left.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

  pid_t process_ = -1;
  int output_ = -1;
};

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  for (const char* folder : kFolders) {
    std::string path = folder + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

Result<std::string> run_program(const std::string& path, const std::vector<std::string>& arguments,
                                const ProgramLimits& limits) {
  Child child;
  if (const int error = child.start(path, arguments); error != 0)
    return failed(path, Code::unavailable, std::strerror(error));
  const Clock::time_point deadline = Clock::now() + limits.time;
  std::string output;
  Status read = child.read_all(output, limits.output_bytes, deadline);
  const std::optional<int> status = read ? child.wait(deadline) : std::nullopt;
  if (!status) child.abandon();
  if (!read) return failed(path, read.error().code, read.error().why);
  if (!status) return failed(path, Code::unavailable, "took too long");
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return output;
  return failed(path, Code::unavailable,
                WIFEXITED(*status) ? fmt::format("ended with status {}", WEXITSTATUS(*status))
                                   : fmt::format("was ended by signal {}", WTERMSIG(*status)));
}

}  // namespace evener::host
