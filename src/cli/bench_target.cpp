#include "cli/bench_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <system_error>

#include "host/file_tree.h"

namespace evener::cli {
namespace {

using bench::Needs;

std::filesystem::path own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

// The address is the run's to choose; a key would stand in every report.
Status check_server_word(const std::string& word) {
  Error error{.code = Code::invalid_argument,
              .doing = "start a server to measure",
              .where = "--server-args",
              .why = word + " is for the run to choose",
              .remedy = "start the server yourself and name it with --url"};
  if (word.starts_with("--port") || word.starts_with("--host")) return error;
  if (!word.starts_with("--api-key")) return {};
  error.why = "the results keep these words";
  error.remedy = "give the key to bench with --api-key: it hands it on";
  return error;
}

// What comes after "evener serve".
Result<std::vector<std::string>> server_words(const BenchOptions& options) {
  ASSIGN_OR_RETURN(std::vector<std::string> words, split_words(options.server_args));
  for (const std::string& word : words) RETURN_IF_ERROR(check_server_word(word));
  if (!options.serve_model.empty()) words.insert(words.begin(), options.serve_model.string());
  return words;
}

Status start_own(BenchTarget& target, const BenchOptions& options, LongWork& work) {
  target.cpus = bench::share_cpus(bench::allowed_cpus(), host::FileTree("/"));
  bench::OwnServerOptions own;
  own.program = own_program();
  ASSIGN_OR_RETURN(own.arguments, server_words(options));
  own.api_key = options.target.api_key;
  own.cpus = target.cpus.server;
  ASSIGN_OR_RETURN(target.own_server,
                   bench::OwnServer::start(own, [&work](const std::string& what, double fraction) {
                     return work.advance(what, fraction, 1);
                   }));
  work.finish();
  target.address.url = target.own_server->url();
  return {};
}

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The experiment starts and stops the server by itself.
Status offer_own_command(BenchTarget& target, BenchOptions& options) {
  auto& coldstart = options.experiment.coldstart;
  if (!coldstart.command.empty() || !coldstart.unit.empty()) {
    if (!target.address.url.empty()) return {};
    return Error{.code = Code::invalid_argument,
                 .doing = "measure cold starts",
                 .where = {},
                 .why = "nothing says where the server will answer",
                 .remedy = "name its address with --url"};
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> words, server_words(options));
  ASSIGN_OR_RETURN(const uint16_t port, bench::free_port());
  coldstart.command =
      fmt::format("exec {} serve --host 127.0.0.1 --port {}", quoted(own_program().string()), port);
  for (const std::string& word : words) coldstart.command += " " + quoted(word);
  target.address.url = fmt::format("http://127.0.0.1:{}", port);
  return {};
}

}  // namespace

bench::Caliber BenchTarget::caliber(const BenchOptions& options) const {
  bench::Caliber caliber;
  if (server) caliber = server->facts().caliber;
  if (!own_server) return caliber;
  caliber["server.started_by"] = "this run";
  if (!options.server_args.empty()) caliber["server.arguments"] = options.server_args;
  if (!cpus.server.empty()) caliber["server.cpus"] = fmt::format("{}", fmt::join(cpus.server, ","));
  return caliber;
}

bool BenchTarget::is_here() const {
  if (!client || own_server || !server) return true;
  const bench::Caliber& caliber = server->facts().caliber;
  const auto kind = caliber.find("server.url_kind");
  return kind != caliber.end() && kind->second == "loopback";
}

Result<BenchTarget> find_target(const bench::Experiment& experiment, BenchOptions& options,
                                LongWork& work) {
  BenchTarget target;
  target.address = options.target;
  target.address.verify_certificate = !options.insecure;
  if (experiment.needs == Needs::nothing) return target;
  if (experiment.needs == Needs::address) RETURN_IF_ERROR(offer_own_command(target, options));
  if (target.address.url.empty()) RETURN_IF_ERROR(start_own(target, options, work));
  ASSIGN_OR_RETURN(target.client, bench::Client::create(target.address, bench::Clock::now()));
  if (experiment.needs == Needs::address) return target;
  work.advance("looking at the server", 0, 1);
  ASSIGN_OR_RETURN(target.server, bench::Server::probe(*target.client));
  work.finish();
  target.address.model = target.server->facts().model;
  return target;
}

}  // namespace evener::cli
