// What the bench's own client adds to the times it takes. A server in another process, on another
// processor, stamps each event with the time it sends it; the client's time minus that stamp is
// what the network, the kernel and the client took together. A plain recv() on the same stream
// shows how much of it is not the client's. Where other programs take the processors, run it as
// `chrt -f 10 client_bench`, or their time slices are what it shows.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <future>
#include <latch>
#include <string>
#include <vector>

#include "bench/client.h"

namespace {

using namespace evener::bench;

struct Shape {
  int num_streams = 1;
  int num_events = 0;  // of each stream
  double events_per_s = 50;
};

int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fmt::print("not pinned to {}\n", cpu);
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
}

std::string chunked(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

std::string event(int64_t stamp) {
  return chunked(fmt::format(
      "data: {{\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\","
      "\"created\":1700000000,\"model\":\"a-model-of-some-name\",\"choices\":[{{\"index\":0,"
      "\"delta\":{{\"content\":\"{}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n",
      stamp));
}

// The server's whole life: takes the streams' requests, then sends their events in turn, evenly
// spread over time.
void serve(int listener, const Shape& shape) {
  std::vector<int> sockets;
  char request[65536];
  for (int i = 0; i < shape.num_streams; ++i) {
    sockets.push_back(accept(listener, nullptr, nullptr));
    if (recv(sockets.back(), request, sizeof request, 0) <= 0) return;
    send_all(sockets.back(),
             "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
             "Transfer-Encoding: chunked\r\n\r\n");
  }
  const double gap_ns = 1e9 / shape.events_per_s / shape.num_streams;
  const int64_t begin = now_ns() + 50'000'000;
  for (int64_t i = 0; i < int64_t{shape.num_events} * shape.num_streams; ++i) {
    const int64_t due = begin + static_cast<int64_t>(gap_ns * static_cast<double>(i));
    const timespec until = {.tv_sec = due / 1'000'000'000, .tv_nsec = due % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
    send_all(sockets[static_cast<size_t>(i % shape.num_streams)], event(now_ns()));
  }
  const std::string end = chunked("data: [DONE]\n\n") + "0\r\n\r\n";
  for (const int socket : sockets) send_all(socket, end);
  for (const int socket : sockets) recv(socket, request, sizeof request, 0);  // until it closes
}

// A server in a process of its own, for as long as this lives.
class ServerProcess {
 public:
  ServerProcess(const Shape& shape, int cpu) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener, reinterpret_cast<const sockaddr*>(&address), size);
    listen(listener, 1024);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      pin_to(cpu);
      serve(listener, shape);
      _exit(0);
    }
    close(listener);
  }
  ~ServerProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  uint16_t port() const { return port_; }

 private:
  pid_t process_ = -1;
  uint16_t port_ = 0;
};

struct Delays {
  std::vector<double> ms;

  void add(int64_t at, std::string_view stamp) {
    int64_t sent = 0;
    std::from_chars(stamp.data(), stamp.data() + stamp.size(), sent);
    ms.push_back(static_cast<double>(at - sent) * 1e-6);
  }
  void print(std::string_view what) {
    if (ms.empty()) return fmt::print("{:<44} none\n", what);
    std::sort(ms.begin(), ms.end());
    const auto rank = [this](double p) {  // nearest rank
      return ms[static_cast<size_t>(std::max(0.0, std::ceil(p * double(ms.size())) - 1))];
    };
    fmt::print("{:<44} n {:>7}  median {:.3f}  p99 {:.3f}  p99.9 {:.3f}  max {:.3f} ms\n", what,
               ms.size(), rank(0.5), rank(0.99), rank(0.999), ms.back());
  }
};

void measure_recv(const Shape& shape, int server_cpu) {
  const ServerProcess server(shape, server_cpu);
  const int peer = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  if (connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  send_all(peer, "POST / HTTP/1.1\r\n\r\n");
  Delays delays;
  constexpr std::string_view kMark = "\"content\":\"";
  char bytes[65536];
  while (true) {
    const ssize_t size = recv(peer, bytes, sizeof bytes, 0);
    const int64_t at = now_ns();
    const std::string_view text(bytes, static_cast<size_t>(std::max<ssize_t>(size, 0)));
    if (size <= 0 || text.find("[DONE]") != std::string_view::npos) break;
    for (size_t i = text.find(kMark); i < text.size(); i = text.find(kMark, i)) {
      i += kMark.size();
      delays.add(at, text.substr(i));
    }
  }
  close(peer);
  delays.print(fmt::format("{} stream, recv() alone", shape.num_streams));
}

double cpu_seconds_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double client_cpu_seconds(Client& client) {
  std::promise<double> seconds;
  client.call_at(Clock::now(), [&] { seconds.set_value(cpu_seconds_of_this_thread()); });
  return seconds.get_future().get();
}

void measure_client(const Shape& shape, int server_cpu, int client_cpu) {
  const ServerProcess server(shape, server_cpu);
  pin_to(client_cpu);
  Target target;
  target.url = fmt::format("http://127.0.0.1:{}", server.port());
  target.model = "m";
  const Clock::time_point start = Clock::now();
  auto client = Client::create(target, start);
  if (!client) return fmt::print("{}\n", to_string(client.error()));

  Delays read;
  Delays told;
  Delays between;
  std::latch ended(shape.num_streams);
  std::atomic<uint64_t> num_events = 0;
  const double cpu_before = client_cpu_seconds(**client);
  for (int i = 0; i < shape.num_streams; ++i) {
    RequestPlan plan;
    plan.prompt = "x";
    (*client)->start(plan, {.on_event =
                                [&](const OutputEvent& output, std::string_view text) {
                                  const int64_t now = now_ns();
                                  const int64_t at = (start + output.at).time_since_epoch().count();
                                  told.add(now, text);
                                  read.add(at, text);
                                  between.ms.push_back(static_cast<double>(now - at) * 1e-6);
                                },
                            .on_end =
                                [&](const RequestRecord& record) {
                                  num_events += record.events.size();
                                  if (!record.error.empty()) fmt::print("{}\n", record.error);
                                  ended.count_down();
                                }});
  }
  ended.wait();
  const double cpu = client_cpu_seconds(**client) - cpu_before;
  const std::string name =
      fmt::format("{} streams of {} events/s", shape.num_streams, shape.events_per_s);
  read.print(name + ", when read");
  told.print(name + ", when told");
  between.print("  between the two");
  fmt::print(
      "{:<44} {} of {} events, {:.1f} us of processor time each, {:.1f} % of one processor\n",
      "  the client's thread", num_events.load(), shape.num_events * shape.num_streams,
      cpu * 1e6 / static_cast<double>(num_events),
      cpu * 100 / (shape.num_events / shape.events_per_s));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What the bench's client adds to the times it takes");
  double seconds = 5;
  double events_per_s = 50;
  int num_streams = 256;
  int client_cpu = 0;
  int server_cpu = 1;
  app.add_option("--seconds", seconds, "of each part");
  app.add_option("--rate", events_per_s, "events per second of each stream");
  app.add_option("--streams", num_streams, "at once");
  app.add_option("--client-cpu", client_cpu);
  app.add_option("--server-cpu", server_cpu);
  CLI11_PARSE(app, argc, argv);

  const auto shape = [&](int streams, double rate) {
    return Shape{.num_streams = streams,
                 .num_events = static_cast<int>(seconds * rate),
                 .events_per_s = rate};
  };
  pin_to(client_cpu);
  double load[3] = {};
  getloadavg(load, 3);
  fmt::print("load average before: {:.2f}; times since the server's stamp\n", load[0]);
  measure_recv(shape(1, events_per_s), server_cpu);
  measure_client(shape(1, events_per_s), server_cpu, client_cpu);
  measure_recv(shape(1, 1000), server_cpu);
  measure_client(shape(1, 1000), server_cpu, client_cpu);
  measure_client(shape(num_streams, events_per_s), server_cpu, client_cpu);
  return 0;
}
