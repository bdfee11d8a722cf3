#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bench/experiments/coldstart/phases.h"
#include "bench/experiments/coldstart/started_server.h"
#include "bench/experiments/experiments.h"
#include "bench/notebook.h"
#include "bench/scripted_server.h"
#include "host/run_program.h"

namespace evener::bench {

namespace {

using namespace std::chrono_literals;

// Loads for three health checks, in two phases, then answers as servers do.
constexpr const char* kServer = R"python(
import http.server, json, os, sys
looks = 0
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *a): pass
    def say(self, status, kind, text):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def do_GET(self):
        global looks
        looks += 1
        body = {'pid': int(PID)}
        if looks <= 3:
            body['progress'] = {'phase': 'map' if looks < 3 else 'pack', 'fraction': 0.5}
        self.say(503 if looks <= 3 else 200, 'application/json', json.dumps(body))
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        chunk = {'id': '1', 'choices': [{'index': 0, 'delta': {'content': '1'}, 'finish_reason': None}]}
        last = {'id': '1', 'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'length'}]}
        self.say(200, 'text/event-stream',
                 ''.join('data: ' + json.dumps(c) + '\n\n' for c in (chunk, last)) + 'data: [DONE]\n\n')
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
Server(('127.0.0.1', PORT), Handler).serve_forever()
)python";

uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(socket, any, size), 0);
  EXPECT_EQ(::getsockname(socket, any, &size), 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

class ColdstartTest : public testing::Test {
 protected:
  void SetUp() override {
    python_ = host::find_program("python3").value_or("");
    if (python_.empty()) GTEST_SKIP() << "Python is not installed";
    port_ = free_port();
    url_ = fmt::format("http://127.0.0.1:{}", port_);
    options_.num_rounds = 2;
    options_.coldstart.command = command_with("os.getpid()");
    options_.coldstart.patience = 60s;
  }

  std::string command_with(const std::string& pid) const {
    std::string code = kServer;
    for (const auto& [mark, text] :
         {std::pair<std::string, std::string>{"PORT", std::to_string(port_)}, {"PID", pid}}) {
      for (size_t at = code.find(mark); at != std::string::npos; at = code.find(mark))
        code.replace(at, mark.size(), text);
    }
    std::string quoted;
    for (const char c : code) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return fmt::format("{} -c '{}'", python_, quoted);
  }

  Status run() {
    Target target;
    target.url = url_;
    target.model = "any";
    auto client = Client::create(target, book_.start());
    EXPECT_TRUE(client) << to_string(client.error());
    Bench bench{.client = client->get(),
                .server = nullptr,
                .prompts = nullptr,
                .recorder = book_,
                .options = options_,
                .stop = stop_,
                .progress = [](const std::string&, double) {}};
    return coldstart_experiment.run(bench);
  }

  std::string python_;
  uint16_t port_ = 0;
  std::string url_;
  ExperimentOptions options_;
  std::atomic<bool> stop_ = false;
  Notebook book_;
};

TEST_F(ColdstartTest, TellsThePhasesOfEveryRound) {
  const Status done = run();
  ASSERT_TRUE(done) << to_string(done.error());
  ASSERT_EQ(book_.cells.size(), 2U);
  EXPECT_EQ(book_.cells[0].target.at("page_cache"), "as found");
  EXPECT_EQ(book_.cells[1].target.at("page_cache"), "warm");
  for (const CellRecord& cell : book_.cells) {
    EXPECT_EQ(cell.state, CellState::complete);
    std::vector<std::string> names;
    double sum = 0;
    double total = 0;
    for (const Value& value : book_.values) {
      if (value.cell != cell.key) continue;
      if (value.key == "total_s") {
        total = value.value;
      } else {
        names.push_back(value.key);
        sum += value.value;
      }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"phase_process_s", "phase_map_s", "phase_pack_s",
                                               "phase_rest_s", "phase_first_token_s"}));
    EXPECT_NEAR(sum, total, 1e-6);
    EXPECT_GT(total, 0);
  }
  for (const Finding& finding : book_.findings)
    EXPECT_NE(finding.fault, Fault::config_changed) << finding.detail;
}

// The one that answers must be the one that was started.
TEST_F(ColdstartTest, NoticesThatAnotherProcessAnswers) {
  options_.num_rounds = 1;
  options_.coldstart.command = command_with("1");
  const Status done = run();
  ASSERT_TRUE(done) << to_string(done.error());
  const auto found =
      std::find_if(book_.findings.begin(), book_.findings.end(),
                   [](const Finding& finding) { return finding.fault == Fault::config_changed; });
  ASSERT_NE(found, book_.findings.end());
  EXPECT_TRUE(found->detail.starts_with("process 1 answers")) << found->detail;
}

// What is there before the start is not measured.
TEST_F(ColdstartTest, RefusesAPortWhereSomebodyAnswersAlready) {
  const ScriptedServer other;
  url_ = other.url();
  const Status done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, "a server answers there before any was started");
  EXPECT_TRUE(book_.cells.empty());
}

TEST_F(ColdstartTest, SaysWhatAServerWroteThatEnded) {
  options_.coldstart.command = "echo no such model; exit 3";
  const Status done = run();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().why.find("it ended with status 3; it wrote: no such model"),
            std::string::npos)
      << done.error().why;
  ASSERT_EQ(book_.cells.size(), 1U);
  EXPECT_EQ(book_.cells[0].state, CellState::voided);
}

TEST_F(ColdstartTest, GivesUpOnAServerThatIsNeverReady) {
  options_.coldstart.command = "exec sleep 1000";
  options_.coldstart.patience = 1s;
  const Status done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().why, "it is not ready after 1 s");
}

TEST_F(ColdstartTest, WantsOneWayToStart) {
  options_.coldstart.command.clear();
  const Status neither = run();
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.error().code, Code::invalid_argument);
}

pid_t number_in(const std::string& text) {
  pid_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Servers start helpers; none of them may be left.
TEST(CommandServer, EndsAllThatItStarted) {
  const auto server = make_command_server("sleep 1000 & echo $!; wait");
  const auto began = server->start();
  ASSERT_TRUE(began) << to_string(began.error());
  while (server->log().find('\n') == std::string::npos) std::this_thread::yield();
  const pid_t helper = number_in(server->log());
  ASSERT_GT(helper, 1);
  EXPECT_TRUE(server->is_own(helper));
  EXPECT_FALSE(server->is_own(::getpid()));
  EXPECT_EQ(server->how_it_ended(), "");
  const Status stopped = server->stop();
  ASSERT_TRUE(stopped) << to_string(stopped.error());
  EXPECT_EQ(server->how_it_ended(), "it was ended by signal 15 (Terminated)");
  EXPECT_FALSE(server->is_own(helper));
}

TEST(StartPhases, AreReadFromTheLastLineOfTheLog) {
  const auto phases = phases_of_log(
      "start: map 1 ms, pack 1 ms, warm 1 ms, listen 0 ms; ready after 3 ms\n"
      "x start: map 8 ms, pack 1500 ms, warm 2.5 ms, listen 1 ms; ready after 1512 ms\nready\n");
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[1].name, "pack");
  EXPECT_DOUBLE_EQ(phases[1].time.count(), 1.5);
  EXPECT_DOUBLE_EQ(phases[2].time.count(), 0.0025);
  for (const char* nonsense :
       {"", "start: ", "start: map", "start: map x ms", "start: map -1 ms", "start: Map 1 ms",
        "start: map nan ms", "start: , , ,", "start: map 1 ms, pack 1 s"}) {
    EXPECT_TRUE(phases_of_log(nonsense).empty()) << nonsense;
  }
}

TEST(StartPhases, AreReadFromHealthWithoutTrust) {
  const Health loading = read_health(
      {.status = 503, .body = R"({"pid":7,"progress":{"phase":"pack","fraction":0.5}})"});
  EXPECT_FALSE(loading.is_ready);
  EXPECT_EQ(loading.pid, 7);
  EXPECT_EQ(loading.phase, "pack");
  for (const char* body : {"", "ok", "[]", R"({"pid":-1,"progress":3})",
                           R"({"pid":99999999999,"progress":{"phase":"A B"}})"}) {
    const Health health = read_health({200, body});
    EXPECT_TRUE(health.is_ready);
    EXPECT_EQ(health.pid, std::nullopt) << body;
    EXPECT_EQ(health.phase, "") << body;
  }
}

// Virtual time: whatever is told, the phases add up to the whole.
TEST(StartPhases, AddUpToTheWhole) {
  const Clock::time_point began{};
  StartClock clock(began);
  clock.saw({.is_ready = false, .pid = {}, .phase = "map"}, began + 100ms);
  clock.saw({.is_ready = false, .pid = {}, .phase = "pack"}, began + 300ms);
  clock.saw({.is_ready = false, .pid = {}, .phase = "pack"}, began + 900ms);
  clock.saw({.is_ready = true, .pid = {}, .phase = {}}, began + 1000ms);
  const auto seen = clock.phases({}, began + 1200ms);
  std::map<std::string, double> times;
  double sum = 0;
  for (const Phase& phase : seen) {
    times[phase.name] = phase.time.count();
    sum += phase.time.count();
  }
  EXPECT_NEAR(sum, 1.2, 1e-9);
  EXPECT_NEAR(times["process"], 0.1, 1e-9);
  EXPECT_NEAR(times["map"], 0.2, 1e-9);
  EXPECT_NEAR(times["pack"], 0.7, 1e-9);
  EXPECT_NEAR(times["first_token"], 0.2, 1e-9);

  const auto told = clock.phases({{.name = "pack", .time = Seconds(0.5)}}, began + 1200ms);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[2].name, "rest");
  EXPECT_NEAR(told[2].time.count(), 0.4, 1e-9);

  // It began to load before it was seen.
  const auto before = clock.phases({{.name = "pack", .time = Seconds(0.95)}}, began + 1200ms);
  EXPECT_NEAR(before[0].time.count(), 0.05, 1e-9);
  EXPECT_NEAR(before[2].time.count(), 0, 1e-9);
}

}  // namespace
}  // namespace evener::bench
