// evener bench list, show, export, merge, verify: the store of results.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/private_file.h"
#include "base/text.h"
#include "bench/export.h"
#include "bench/merge.h"
#include "bench/report.h"
#include "bench/store/words.h"
#include "bench/verify.h"
#include "cli/bench_load_run.h"
#include "cli/bench_store_option.h"
#include "cli/command.h"
#include "cli/text_style.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path store;
  std::string run;
  std::vector<std::string> runs;
  std::filesystem::path out;
  std::filesystem::path from;
  std::string language = "en";
  bool all = false;
  bool unfinished = false;
  bool no_colour = false;
};
Options options;

std::string fact(const bench::Caliber& caliber, const char* name) {
  const auto found = caliber.find(name);
  return found == caliber.end() ? std::string() : printable(found->second, 40);
}

void add_list_options(CommandLine& line) { add_store_option(line, options.store); }

Result<int> list() {
  ASSIGN_OR_RETURN(bench::Store store, open_store(options.store));
  ASSIGN_OR_RETURN(const std::vector<bench::RunEntry> runs, store.runs());
  if (runs.empty()) {
    fmt::print("{} holds no run.\n", store.file());
    return 0;
  }
  fmt::print("{:<20}  {:<16}  {:<12} {:<11} {:>5} {:>8}  {}\n", "run", "started (UTC)", "what",
             "state", "cells", "requests", "server, model, note");
  for (const bench::RunEntry& entry : runs) {
    const bench::RunHeader& header = entry.header;
    const auto started = std::chrono::time_point_cast<std::chrono::seconds>(header.started);
    std::string about = fact(header.caliber, "server.kind");
    for (const std::string& word : {fact(header.caliber, "server.version"),
                                    fact(header.caliber, "model.id"), printable(header.note, 60)}) {
      if (!word.empty()) about += (about.empty() ? "" : "  ") + word;
    }
    fmt::print("{:<20}  {:%Y-%m-%d %H:%M}  {:<12} {:<11} {:>5} {:>8}  {}\n",
               printable(header.id, 40), started, printable(header.name, 20),
               bench::to_word(entry.state), entry.num_cells, entry.num_requests, about);
  }
  return 0;
}

void add_show_options(CommandLine& line) {
  line.add("RUN", options.run, "an id, the beginning of one, or last").required();
  line.add("--lang", options.language, "language of the report").one_of({"en", "zh"});
  line.add("--no-color", options.no_colour, "no colours on the terminal");
  add_store_option(line, options.store);
}

Result<int> show() {
  ASSIGN_OR_RETURN(const bench::Run run, load_run(options.store, options.run));
  const auto style = output_style(options.no_colour);
  bench::TerminalStyle terminal;
  if (style.width > 0) terminal.width = unsigned(style.width);
  terminal.colour = style.colour;
  terminal.ascii = style.ascii;
  const auto language =
      options.language == "zh" ? bench::Language::chinese : bench::Language::english;
  fmt::print("{}", bench::report_text(run, language, terminal));
  return 0;
}

void add_export_options(CommandLine& line) {
  line.add("RUN", options.runs, "runs: ids, beginnings of ids, or last");
  line.add("--all", options.all, "all runs of the store, the earliest first");
  line.add("--out", options.out, "file to write; without: standard output");
  add_store_option(line, options.store);
}

// The ids that are meant, or an error: none or both of RUN and --all.
Result<std::vector<std::string>> chosen(bench::Store& store) {
  if (options.all == !options.runs.empty()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "export runs",
                 .where = store.file(),
                 .why = options.all ? "--all and a run exclude each other" : "no run is named",
                 .remedy = "name runs, or give --all"};
  }
  std::vector<std::string> ids;
  for (const std::string& words : options.runs) {
    ASSIGN_OR_RETURN(std::string id, store.find(words));
    ids.push_back(std::move(id));
  }
  if (!options.all) return ids;
  ASSIGN_OR_RETURN(const std::vector<bench::RunEntry> runs, store.runs());
  for (auto entry = runs.rbegin(); entry != runs.rend(); ++entry) ids.push_back(entry->header.id);
  return ids;
}

Error cannot_print() {
  return {.code = Code::unavailable,
          .doing = "export runs",
          .where = "standard output",
          .why = "it takes nothing more",
          .remedy = "name a file with --out"};
}

Result<int> export_runs() {
  ASSIGN_OR_RETURN(bench::Store store, open_store(options.store));
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, chosen(store));
  std::string text;
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(const bench::Run run, store.load(id));
    bench::export_lines(run, [&](std::string_view line) { text.append(line).append("\n"); });
    if (!options.out.empty()) continue;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return cannot_print();
    text.clear();
  }
  if (options.out.empty()) {
    if (std::fflush(stdout) != 0) return cannot_print();
    return 0;
  }
  RETURN_IF_ERROR(write_private_file(options.out, text, "export runs"));
  fmt::print("{}: {} runs\n", options.out.string(), ids.size());
  return 0;
}

void add_merge_options(CommandLine& line) {
  line.add("FILE", options.from, "another store, whose runs are added").required();
  line.add("--unfinished", options.unfinished,
           "take runs without an end too: they must not be running any more");
  add_store_option(line, options.store);
}

Result<int> merge() {
  ASSIGN_OR_RETURN(const std::filesystem::path into, store_file(options.store));
  ASSIGN_OR_RETURN(
      const bench::MergeResult merged,
      bench::merge_stores(into, options.from,
                          options.unfinished ? bench::Unfinished::take : bench::Unfinished::leave));
  for (const std::string& id : merged.added) fmt::print("added {}\n", printable(id, 60));
  for (const std::string& id : merged.unfinished) {
    fmt::print("left out {}: it has no end; --unfinished takes it\n", printable(id, 60));
  }
  fmt::print("{}: {} runs added, {} were there\n", into.string(), merged.added.size(),
             merged.present.size());
  return 0;
}

void add_verify_options(CommandLine& line) {
  line.add("RUN", options.run, "an id, the beginning of one, or last; without: all runs");
  add_store_option(line, options.store);
}

// Exit status: 1 if anything differs.
Result<int> verify() {
  ASSIGN_OR_RETURN(bench::Store store, open_store(options.store));
  std::vector<std::string> ids;
  if (options.run.empty()) {
    ASSIGN_OR_RETURN(const std::vector<bench::RunEntry> runs, store.runs());
    for (const bench::RunEntry& entry : runs) ids.push_back(entry.header.id);
  } else {
    ASSIGN_OR_RETURN(std::string id, store.find(options.run));
    ids.push_back(std::move(id));
  }
  size_t num_differences = 0;
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(const bench::Run run, store.load(id));
    ASSIGN_OR_RETURN(const auto figures, store.figures(id));
    const std::vector<std::string> found = bench::verify_figures(run, figures);
    for (const std::string& sentence : found) fmt::print("{}: {}\n", printable(id, 60), sentence);
    num_differences += found.size();
  }
  fmt::print("{} runs, {} differences between figures and the records they come from\n", ids.size(),
             num_differences);
  return num_differences > 0 ? kExitFailed : 0;
}

}  // namespace

extern const Command bench_list_command;
const Command bench_list_command = {
    .name = "list",
    .summary = "List the runs of the store, the latest first",
    .add_options = add_list_options,
    .run = list,
};

extern const Command bench_show_command;
const Command bench_show_command = {
    .name = "show",
    .summary = "Show the report of a run on the terminal",
    .add_options = add_show_options,
    .run = show,
};

extern const Command bench_export_command;
const Command bench_export_command = {
    .name = "export",
    .summary = "Write runs with all their records as JSON lines",
    .add_options = add_export_options,
    .run = export_runs,
};

extern const Command bench_merge_command;
const Command bench_merge_command = {
    .name = "merge",
    .summary = "Add the runs of another store, each once",
    .add_options = add_merge_options,
    .run = merge,
};

extern const Command bench_verify_command;
const Command bench_verify_command = {
    .name = "verify",
    .summary = "Work out all figures again from the records and name what differs",
    .add_options = add_verify_options,
    .run = verify,
};

}  // namespace evener::cli
