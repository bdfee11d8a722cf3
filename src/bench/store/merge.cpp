#include "bench/merge.h"

#include <algorithm>
#include <set>
#include <utility>

#include "bench/store.h"
#include "bench/store/database.h"
#include "bench/store/rows.h"
#include "bench/store/schema.h"

namespace evener::bench {
namespace {

Status add_run(Database& into, const Run& run, const std::map<std::string, CellFigures>& figures) {
  ASSIGN_OR_RETURN(RowWriter rows, RowWriter::of(into, run.header.id));
  const auto add_all = [&](const auto& records) -> Status {
    for (const auto& record : records) RETURN_IF_ERROR(rows.add(record));
    return {};
  };
  return into.in_transaction([&]() -> Status {
    RETURN_IF_ERROR(rows.add(run.header));
    RETURN_IF_ERROR(add_all(run.requests));
    RETURN_IF_ERROR(add_all(run.values));
    RETURN_IF_ERROR(add_all(run.telemetry));
    RETURN_IF_ERROR(add_all(run.cells));
    RETURN_IF_ERROR(add_all(run.findings));
    // As they are stored: working them out again would hide that something was changed.
    for (const auto& [cell, of_cell] : figures) RETURN_IF_ERROR(rows.add(cell, of_cell));
    return run.state == RunState::unfinished ? Status() : rows.add(run.state);
  });
}

}  // namespace

Result<MergeResult> merge_stores(const std::filesystem::path& into,
                                 const std::filesystem::path& from, Unfinished unfinished) {
  ASSIGN_OR_RETURN(Store source, Store::open(from));
  ASSIGN_OR_RETURN(std::vector<RunEntry> runs, source.runs());
  ASSIGN_OR_RETURN(Database target, open_store_to_write(into));
  ASSIGN_OR_RETURN(const std::vector<RunHeader> headers, read_headers(target));
  std::set<std::string> known;
  for (const RunHeader& header : headers) known.insert(header.id);

  MergeResult out;
  std::reverse(runs.begin(), runs.end());  // the earliest first, as they would have come
  for (const RunEntry& entry : runs) {
    const std::string& id = entry.header.id;
    if (known.contains(id)) {
      out.present.push_back(id);
      continue;
    }
    if (entry.state == RunState::unfinished && unfinished == Unfinished::leave) {
      out.unfinished.push_back(id);
      continue;
    }
    ASSIGN_OR_RETURN(const Run run, source.load(id));
    ASSIGN_OR_RETURN(const auto figures, source.figures(id));
    RETURN_IF_ERROR(add_run(target, run, figures));
    out.added.push_back(id);
  }
  return out;
}

}  // namespace evener::bench
