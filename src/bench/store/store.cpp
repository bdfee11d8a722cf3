#include "bench/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "bench/store/database.h"
#include "bench/store/rows.h"
#include "bench/store/schema.h"

namespace evener::bench {
namespace {

constexpr size_t kIdsNamedMax = 5;

Result<uint64_t> count_rows(Database& database, std::string_view table, const std::string& run) {
  ASSIGN_OR_RETURN(Statement statement,
                   database.prepare(fmt::format("SELECT count(*) FROM {} WHERE run = ?1", table)));
  statement.bind(1, std::string_view(run));
  ASSIGN_OR_RETURN(const bool has_row, statement.step());
  return has_row ? uint64_t(statement.integer(0)) : 0;
}

Error cannot_find(const std::string& file, std::string_view words, Code code, std::string why) {
  return {.code = code,
          .doing = fmt::format("find run '{}'", printable(words, 60)),
          .where = file,
          .why = std::move(why),
          .remedy = "evener bench list shows what there is"};
}

}  // namespace

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(Database database, Database::open(file, Database::Access::read));
  RETURN_IF_ERROR(check_schema(database));
  return Store(std::make_unique<Database>(std::move(database)));
}

const std::string& Store::file() const { return database_->file(); }

Result<std::vector<RunEntry>> Store::runs() {
  ASSIGN_OR_RETURN(std::vector<RunHeader> headers, read_headers(*database_));
  std::vector<RunEntry> out;
  for (RunHeader& header : headers) {
    ASSIGN_OR_RETURN(const RunState state, read_state(*database_, header.id));
    ASSIGN_OR_RETURN(const uint64_t cells, count_rows(*database_, "cells", header.id));
    ASSIGN_OR_RETURN(const uint64_t requests, count_rows(*database_, "requests", header.id));
    out.push_back({.header = std::move(header),
                   .state = state,
                   .num_cells = cells,
                   .num_requests = requests});
  }
  std::stable_sort(out.begin(), out.end(), [](const RunEntry& a, const RunEntry& b) {
    return a.header.started > b.header.started;
  });
  return out;
}

Result<std::string> Store::find(std::string_view words) {
  ASSIGN_OR_RETURN(const std::vector<RunEntry> all, runs());
  if (all.empty()) return cannot_find(file(), words, Code::not_found, "the store holds no run");
  if (words == "last" || words == "latest") return all.front().header.id;
  std::vector<std::string> found;
  for (const RunEntry& entry : all) {
    if (entry.header.id == words) return entry.header.id;
    if (entry.header.id.starts_with(words)) found.push_back(entry.header.id);
  }
  if (found.empty()) {
    return cannot_find(file(), words, Code::not_found, "no run has an id that begins so");
  }
  if (found.size() == 1) return found.front();
  const size_t num_found = found.size();
  found.resize(std::min(num_found, kIdsNamedMax));
  for (std::string& id : found) id = printable(id, 60);
  return cannot_find(file(), words, Code::invalid_argument,
                     fmt::format("{} ids begin so: {}{}", num_found, fmt::join(found, ", "),
                                 num_found > kIdsNamedMax ? ", ..." : ""));
}

Result<Run> Store::load(const std::string& id) {
  Run run;
  // One transaction: all parts from the same moment, while somebody writes.
  RETURN_IF_ERROR(database_->run("BEGIN"));
  const Status loaded = [&]() -> Status {
    ASSIGN_OR_RETURN(std::vector<RunHeader> headers, read_headers(*database_));
    const auto found = std::find_if(headers.begin(), headers.end(),
                                    [&](const RunHeader& header) { return header.id == id; });
    if (found == headers.end()) {
      return cannot_find(file(), id, Code::not_found, "no run has this id");
    }
    run.header = std::move(*found);
    ASSIGN_OR_RETURN(run.state, read_state(*database_, id));
    ASSIGN_OR_RETURN(run.cells, read_cells(*database_, id));
    ASSIGN_OR_RETURN(run.requests, read_requests(*database_, {.run = id}));
    ASSIGN_OR_RETURN(run.values, read_values(*database_, {.run = id}));
    ASSIGN_OR_RETURN(run.telemetry, read_telemetry(*database_, id));
    ASSIGN_OR_RETURN(run.findings, read_findings(*database_, id));
    return {};
  }();
  const Status ended = database_->run("ROLLBACK");
  RETURN_IF_ERROR(loaded);
  RETURN_IF_ERROR(ended);
  return run;
}

Result<std::map<std::string, CellFigures>> Store::figures(const std::string& id) {
  return read_figures(*database_, id);
}

}  // namespace evener::bench
