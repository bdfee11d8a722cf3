#include <fmt/format.h>

#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "bench/experiments/coldstart/started_server.h"
#include "host/run_program.h"

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStopPatience{180'000};

class UnitServer : public StartedServer {
 public:
  UnitServer(std::string systemctl, std::string unit)
      : systemctl_(std::move(systemctl)), unit_(std::move(unit)) {}
  ~UnitServer() override {
    if (!was_active_) return;
    const auto started = control({"start", "--no-block", unit_}, milliseconds(10'000));
    static_cast<void>(started);
  }
  UnitServer(const UnitServer&) = delete;
  UnitServer& operator=(const UnitServer&) = delete;

  Status look() {
    ASSIGN_OR_RETURN(const auto state, properties());
    if (state.at("LoadState") != "loaded")
      return Error{.code = Code::not_found,
                   .doing = "measure the start of a unit",
                   .where = unit_,
                   .why = fmt::format("systemd says that it is {}", state.at("LoadState")),
                   .remedy = "systemctl list-units shows what there is"};
    was_active_ = state.at("ActiveState") == "active";
    return {};
  }

  Result<Clock::time_point> start() override {
    const Clock::time_point asked = Clock::now();
    RETURN_IF_ERROR(control({"start", "--no-block", unit_}, milliseconds(10'000)));
    began_ = asked;
    return asked;
  }

  std::string how_it_ended() override {
    const auto state = properties();
    if (!state) return {};
    const std::string& active = state->at("ActiveState");
    return active == "failed" ? fmt::format("systemd says that the unit is {}", active)
                              : std::string();
  }

  bool is_own(pid_t pid) const override {
    const auto state = properties();
    if (!state) return false;
    const std::string& text = state->at("MainPID");
    pid_t main = 0;
    std::from_chars(text.data(), text.data() + text.size(), main);
    return main > 0 && descends_from(pid, main);
  }

  std::string log() const override {
    const auto journalctl = host::find_program("journalctl");
    if (!journalctl) return {};
    const auto age = std::chrono::ceil<std::chrono::seconds>(Clock::now() - began_).count();
    const auto lines = host::run_program(
        *journalctl, {"-u", unit_, "-o", "cat", "--since", fmt::format("-{}s", age), "-n", "200"},
        {});
    return lines ? *lines : std::string();
  }

  Status stop() override { return control({"stop", unit_}, kStopPatience); }

 private:
  Status control(const std::vector<std::string>& words, milliseconds patience) const {
    const auto done = host::run_program(systemctl_, words, {.time = patience});
    if (done) return {};
    return Error{.code = Code::unavailable,
                 .doing = fmt::format("{} the unit", words.front()),
                 .where = unit_,
                 .why = fmt::format("systemctl {}", done.error().why),
                 .remedy = "systemctl needs the rights to do it: run as root"};
  }

  Result<std::map<std::string, std::string>> properties() const {
    ASSIGN_OR_RETURN(
        const std::string text,
        host::run_program(systemctl_, {"show", unit_, "-p", "LoadState,ActiveState,MainPID"}, {}));
    std::map<std::string, std::string> found = {
        {"LoadState", ""}, {"ActiveState", ""}, {"MainPID", ""}};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const size_t sign = line.find('=');
      if (sign != std::string::npos) found[line.substr(0, sign)] = line.substr(sign + 1);
    }
    return found;
  }

  std::string systemctl_;
  std::string unit_;
  bool was_active_ = false;
  Clock::time_point began_;
};

}  // namespace

Result<std::unique_ptr<StartedServer>> make_unit_server(const std::string& unit) {
  const auto systemctl = host::find_program("systemctl");
  if (!systemctl)
    return Error{.code = Code::unsupported,
                 .doing = "measure the start of a unit",
                 .where = unit,
                 .why = "there is no systemctl here",
                 .remedy = "name the server's command line instead (--command)"};
  if (unit.starts_with('-'))
    return Error{.code = Code::invalid_argument,
                 .doing = "measure the start of a unit",
                 .where = unit,
                 .why = "no unit is called so",
                 .remedy = {}};
  auto server = std::make_unique<UnitServer>(*systemctl, unit);
  RETURN_IF_ERROR(server->look());
  return server;
}

}  // namespace evener::bench
