#include "bench/own_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/json_fields.h"
#include "base/text.h"
#include "bench/client.h"
#include "bench/cpu_share.h"

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{50};
constexpr milliseconds kHealthPatience{2'000};
constexpr milliseconds kEndPatience{10'000};
constexpr milliseconds kLastBreath{1'000};
constexpr unsigned kPortsMax = 3;  // tries, where others take ports at the same moment
constexpr std::streamoff kLastBytes = 4'000;
constexpr const char* kStarting = "start a server to measure";

Error cannot_start(Code code, std::string where, std::string why, std::string remedy = {}) {
  return {.code = code,
          .doing = kStarting,
          .where = std::move(where),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

std::string system_words(int number) { return std::generic_category().message(number); }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::string& api_key) {
  constexpr std::string_view kName = "EVENER_API_KEY=";
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(kName)) variables.emplace_back(*variable);
  }
  if (!api_key.empty()) variables.push_back(fmt::format("{}{}", kName, api_key));
  return variables;
}

// Between fork and exec, where only what is safe in a signal handler may be called.
[[noreturn]] void become_server(pid_t parent, int log, const std::vector<int>& cpus,
                                char* const* words, char* const* variables) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (!cpus.empty()) limit_this_thread(cpus);
  ::execve(words[0], words, variables);
  ::_exit(127);
}

// What /health says, if the process that says it is ours.
struct Health {
  bool is_ready = false;
  std::string phase;
  double fraction = 0;
};

Health read_health(const HttpAnswer& answer, pid_t pid) {
  Health health;
  const auto body = json::parse(answer.body, "/health");
  if (!body) return health;
  const auto fields = json::Fields::of(*body, "/health");
  if (!fields || fields->get_uint_or("pid", 0).value_or(0) != static_cast<uint64_t>(pid)) {
    return health;
  }
  health.is_ready = answer.status == 200;
  if (const auto progress = fields->get_object("progress")) {
    health.phase = printable(progress->get_string_or("phase", "").value_or(""), 20);
    health.fraction = progress->get_number_or("fraction", 0).value_or(0);
  }
  return health;
}

}  // namespace

Result<uint16_t> free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.number(), generic, size) != 0 ||
      ::getsockname(socket.number(), generic, &size) != 0) {
    return cannot_start(Code::unavailable, "127.0.0.1", system_words(errno));
  }
  return ntohs(address.sin_port);
}

Result<std::unique_ptr<OwnServer>> OwnServer::start(const OwnServerOptions& options,
                                                    const Progress& progress) {
  if (::access(options.program.c_str(), X_OK) != 0) {
    return cannot_start(Code::not_found, options.program.string(), system_words(errno));
  }
  for (unsigned tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(const uint16_t port, free_port());
    std::unique_ptr<OwnServer> server(new OwnServer);
    RETURN_IF_ERROR(server->spawn(options, port));
    const Status ready = server->wait_until_ready(options, progress);
    if (ready) return server;
    const bool port_was_taken = ready.error().why.find("in use") != std::string::npos;
    if (!port_was_taken || tries == kPortsMax) return ready.error();
  }
}

Status OwnServer::spawn(const OwnServerOptions& options, uint16_t port) {
  url_ = fmt::format("http://127.0.0.1:{}", port);
  std::string path = (std::filesystem::temp_directory_path() / "evener-bench-XXXXXX").string();
  const Descriptor log(::mkostemp(path.data(), O_CLOEXEC));
  if (log.number() < 0) return cannot_start(Code::unavailable, path, system_words(errno));
  log_ = path;
  std::vector<std::string> words = {options.program.string()};
  for (const char* word : {"serve", "--host", "127.0.0.1", "--port"}) words.emplace_back(word);
  words.push_back(fmt::format("{}", port));
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables = environment_with(options.api_key);
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> variable_pointers = pointers(variables);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    become_server(parent, log.number(), options.cpus, word_pointers.data(),
                  variable_pointers.data());
  }
  if (pid_ < 0) return cannot_start(Code::unavailable, words[0], system_words(errno));
  return {};
}

Status OwnServer::wait_until_ready(const OwnServerOptions& options, const Progress& progress) {
  Target target;
  target.url = url_;
  ASSIGN_OR_RETURN(const auto client, Client::create(target, Clock::now()));
  const auto deadline = Clock::now() + options.patience;
  while (Clock::now() < deadline) {
    if (const std::string end = how_it_ended(); !end.empty()) return failed(kStarting, end);
    const auto answer = client->get("/health", kHealthPatience);
    const Health health = answer ? read_health(*answer, pid_) : Health{};
    if (health.is_ready) return {};
    if (!progress("starting the server" + (health.phase.empty() ? "" : ", " + health.phase),
                  health.fraction)) {
      return Error{.code = Code::cancelled,
                   .doing = kStarting,
                   .where = {},
                   .why = "interrupted",
                   .remedy = {}};
    }
    std::this_thread::sleep_for(kLook);
  }
  return failed(kStarting,
                fmt::format("it is not ready after {} s", options.patience.count() / 1000));
}

std::string OwnServer::how_it_ended() {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return {};
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("it ended with status {}", WEXITSTATUS(status));
}

// The server's own message says more than ours can: its last lines are part of the error.
Error OwnServer::failed(const std::string& doing, const std::string& why) const {
  std::ifstream file(log_, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  file.seekg(std::max<std::streamoff>(0, size - kLastBytes));
  std::string words;
  for (std::string line; std::getline(file, line);) words += "\n  | " + printable(line, 300);
  return {.code = Code::unavailable,
          .doing = doing,
          .where = "evener serve",
          .why = words.empty() ? why : why + "; it said:" + words,
          .remedy = {}};
}

Status OwnServer::check() {
  std::string end = how_it_ended();
  for (const auto deadline = Clock::now() + kLastBreath; end.empty() && Clock::now() < deadline;) {
    std::this_thread::sleep_for(kLook);
    end = how_it_ended();
  }
  if (end.empty()) return {};
  return failed("go on measuring", end);
}

OwnServer::~OwnServer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    const auto deadline = Clock::now() + kEndPatience;
    while (how_it_ended().empty() && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
  }
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  if (!log_.empty()) std::filesystem::remove(log_, ignored);
}

}  // namespace evener::bench
