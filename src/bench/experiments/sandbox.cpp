#include "bench/experiments/sandbox.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "host/run_program.h"

namespace evener::bench {
namespace {

constexpr size_t kArgumentBytesMax = 100'000;  // Linux takes 128 KiB
constexpr unsigned kNumProcessesMax = 16;

// Before the code: limits that it cannot lift again. Files of no length keep it from filling
// memory by way of whatever may be written to.
constexpr const char* kLimits = R"python(
import resource, sys
seconds, memory, processes = map(int, sys.argv[2:5])
for what, limit in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory),
                    (resource.RLIMIT_NPROC, processes), (resource.RLIMIT_FSIZE, 0),
                    (resource.RLIMIT_NOFILE, 32), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(what, (limit, limit))
code = sys.argv[1]
sys.argv = ['-c'] + sys.argv[5:]
exec(compile(code, 'script', 'exec'), {'__name__': '__main__'})
)python";

// What each attempt to break out came to; "held" where it was held back.
constexpr const char* kBreakOut = R"python(
import json, os, socket, sys
port, folder, memory, processes = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def network():
    for family, address in ((socket.AF_INET, ('127.0.0.1', port)), (socket.AF_INET6, ('::1', port))):
        try:
            socket.create_connection(address, 2)
            return 'a port of the machine was reached'
        except OSError:
            pass
    others = [name for _, name in socket.if_nameindex() if name != 'lo']
    return 'interfaces are there: ' + ' '.join(others) if others else 'held'

def files():
    if os.path.exists(folder):
        return 'a folder of the user is visible'
    for place in (folder, '/', '/tmp', '/usr', '/dev', '/home', '/root', '/var/tmp', '/dev/shm'):
        try:
            with open(place + '/break_out', 'w') as file:
                file.write('x')
                file.flush()
            return place + ' may be written to'
        except OSError:
            pass
    return 'held'

def memory_limit():
    try:
        bytearray(2 * memory)
        return 'more memory was given than is allowed'
    except MemoryError:
        return 'held'

def process_limit():
    for i in range(2 * processes):
        try:
            if os.fork() == 0:
                os.read(pipe[0], 1)
                os._exit(0)
        except OSError:
            return 'held'
    return 'more processes were started than are allowed'

def visible():
    if os.path.exists('/proc/1'):
        return 'processes are visible'
    return 'held'

pipe = os.pipe()
print(json.dumps({'network': network(), 'files': files(), 'memory': memory_limit(),
                  'processes': process_limit(), 'other processes': visible()}), flush=True)
os._exit(0)
)python";

Error no_sandbox(std::string why, std::string remedy) {
  return {.code = Code::unsupported,
          .doing = "run code of a model",
          .where = "sandbox",
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

// A port of the loopback where somebody listens, for code that must not reach it.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 4) != 0) return;
    if (::getsockname(socket_, any, &size) == 0) port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (socket_ >= 0) ::close(socket_);
  }
  uint16_t port() const { return port_; }  // 0: it could not be opened

 private:
  int socket_;
  uint16_t port_ = 0;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "evener-XXXXXX").string();
    if (!error && ::mkdtemp(path.data())) path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

// The command line up to and with Python's own options.
std::vector<std::string> sandbox_words(const std::string& python) {
  std::vector<std::string> words = {"--unshare-all", "--die-with-parent",
                                    "--new-session", "--cap-drop",
                                    "ALL",           "--uid",
                                    "65534",         "--gid",
                                    "65534",         "--ro-bind",
                                    "/usr",          "/usr"};
  for (const char* folder : {"/lib", "/lib64", "/bin"}) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(folder, error);
    if (!error) {
      words.insert(words.end(), {"--symlink", target.string(), folder});
    } else if (std::filesystem::is_directory(folder, error)) {
      words.insert(words.end(), {"--ro-bind", folder, folder});
    }
  }
  words.insert(words.end(), {"--dev-bind", "/dev/null", "/dev/null", "--remount-ro", "/", "--chdir",
                             "/", "--", python, "-I", "-S", "-B", "-c", kLimits});
  return words;
}

// The first thing that was not held back; nothing if all was.
std::optional<std::string> what_broke_out(const std::string& printed) {
  const auto found = json::parse(printed, "attempts to break out");
  if (!found || !found->is_object() || found->size() != 5) return "the attempts were not reported";
  for (const auto& [name, what] : found->items()) {
    if (!what.is_string()) return "the attempts were not reported";
    if (what != "held") return fmt::format("{}: {}", name, printable(what.get<std::string>()));
  }
  return std::nullopt;
}

}  // namespace

Result<Sandbox> Sandbox::open() {
  const auto bubblewrap = host::find_program("bwrap");
  if (!bubblewrap)
    return no_sandbox("bubblewrap is not installed", "install the package bubblewrap");
  const auto python = host::find_program("python3");
  if (!python) return no_sandbox("Python is not installed", "install the package python3");
  std::string program = *bubblewrap;
  std::vector<std::string> words = sandbox_words(*python);
  if (::geteuid() == 0) {
    // The kernel counts no processes of the superuser against their limit.
    const auto setpriv = host::find_program("setpriv");
    if (!setpriv) return no_sandbox("setpriv is not installed", "install the package util-linux");
    words.insert(words.begin(),
                 {"--reuid", "65534", "--regid", "65534", "--clear-groups", "--", program});
    program = *setpriv;
  }
  const Sandbox sandbox(program, words);

  const Listener listener;
  const TemporaryFolder folder;
  if (listener.port() == 0 || folder.path().empty())
    return no_sandbox("it cannot be tested: no port or no folder to reach for", "");
  const Limits limits;
  const auto tried =
      sandbox.run(kBreakOut,
                  {std::to_string(listener.port()), folder.path(),
                   std::to_string(limits.memory_bytes), std::to_string(kNumProcessesMax)},
                  limits);
  if (!tried)
    return no_sandbox(fmt::format("bubblewrap gives none: {}", tried.error().why),
                      "let users make namespaces (sysctl kernel.unprivileged_userns_clone, "
                      "kernel.apparmor_restrict_unprivileged_userns), or leave the code tasks out");
  if (const auto broken = what_broke_out(*tried))
    return no_sandbox(fmt::format("it does not hold: {}", *broken), "");
  return sandbox;
}

Result<std::string> Sandbox::run(const std::string& script,
                                 const std::vector<std::string>& arguments,
                                 const Limits& limits) const {
  std::vector<std::string> words = words_;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(limits.time / 2).count();
  words.insert(words.end(), {script, std::to_string(seconds), std::to_string(limits.memory_bytes),
                             std::to_string(kNumProcessesMax)});
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const std::string& word : words) {
    if (word.size() > kArgumentBytesMax || word.find('\0') != std::string::npos)
      return Error{.code = Code::limit_exceeded,
                   .doing = "run code of a model",
                   .where = "sandbox",
                   .why = fmt::format("a text has {} bytes or holds a zero byte; at most {} fit",
                                      word.size(), kArgumentBytesMax),
                   .remedy = {}};
  }
  return host::run_program(program_, words,
                           {.time = limits.time, .output_bytes = limits.output_bytes});
}

}  // namespace evener::bench
