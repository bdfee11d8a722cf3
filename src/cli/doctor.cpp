// evener doctor: will these cards work together, why not, and what to change. Exit status: 0
// nothing found, 1 findings, 2 the machine, a file or the words could not be read.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "cli/command.h"
#include "cli/saved_facts.h"
#include "cli/text_style.h"
#include "doctor/changes.h"
#include "doctor/diagnose.h"
#include "doctor/explanations.h"
#include "doctor/report_json.h"
#include "doctor/to_text.h"
#include "doctor/what_if.h"
#include "host/facts_json.h"
#include "host/read_facts.h"

namespace evener::cli {
namespace {

constexpr int kExitFindings = 1;
constexpr int kExitUnreadable = 2;
constexpr size_t kInputBytesMax = size_t{256} << 20;

struct Options {
  std::string file;
  std::string facts;
  std::string snapshot;
  std::vector<std::string> what_if;
  std::string explain;
  bool verify = false;
  bool json = false;
  bool no_colour = false;
};
Options options;

void add_options(CommandLine& line) {
  line.add("FILE", options.file,
           "snapshot (folder, tar, tar.gz), facts.json or pasted lspci and dmesg text; -: standard "
           "input; without: this machine. With --verify: what to compare with");
  const Option facts = line.add("--facts", options.facts, "read facts.json instead of the machine");
  line.add("--snapshot", options.snapshot, "read a snapshot instead of the machine")
      .excludes(facts);
  const Option what_if =
      line.add("--what-if", options.what_if,
               "judge the machine as it would be: bios.above4g=on, kernel=7.4, iommu=pt, "
               "move=CARD:SLOT, ... with commas between them");
  line.add("--verify", options.verify, "say what has changed since before the last start")
      .excludes(what_if);
  line.add("--explain", options.explain, "explain a rule (R40) or a fix (F04) and do nothing else");
  line.add("--json", options.json, "the report as JSON");
  line.add("--no-color", options.no_colour, "no colours on the terminal");
}

Result<host::HostFacts> read_input() {
  std::string bytes;
  std::array<char, 65'536> block{};
  while (const size_t num_bytes = std::fread(block.data(), 1, block.size(), stdin)) {
    bytes.append(block.data(), num_bytes);
    if (bytes.size() <= kInputBytesMax) continue;
    return Error{.code = Code::limit_exceeded,
                 .doing = "read the machine",
                 .where = "standard input",
                 .why = fmt::format("it has more than {} bytes", kInputBytesMax),
                 .remedy = "paste only lspci and kernel log lines"};
  }
  return host::facts_of_bytes(bytes, "standard input");
}

Result<host::HostFacts> read_path(const std::string& path) {
  return path == "-" ? read_input() : host::read_facts(path);
}

Result<host::HostFacts> read_facts_file(const std::string& path) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  return host::facts_from_json(text, path);
}

// Where the facts come from.
struct Subject {
  host::HostFacts facts;
  bool is_this_machine = false;
};

Status check_one_source() {
  if (options.verify || options.file.empty()) return {};
  if (options.facts.empty() && options.snapshot.empty()) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "read the machine",
               .where = options.file,
               .why = "--facts or --snapshot names another file",
               .remedy = "name one"};
}

Result<Subject> read_subject() {
  RETURN_IF_ERROR(check_one_source());
  Result<host::HostFacts> facts = host::HostFacts();
  const bool is_file = !options.file.empty() && !options.verify;
  const bool is_this_machine = !is_file && options.facts.empty() && options.snapshot.empty();
  if (is_this_machine) {
    facts = host::read_live();
  } else if (is_file) {
    facts = read_path(options.file);
  } else if (!options.facts.empty()) {
    facts = read_facts_file(options.facts);
  } else {
    facts = read_path(options.snapshot);
  }
  if (!facts) return std::move(facts).error();
  return Subject{.facts = *std::move(facts), .is_this_machine = is_this_machine};
}

// What the report is held against, if anything.
struct Comparison {
  std::string title;
  doctor::Changes changes;
};

Result<std::optional<Comparison>> compare(Subject& subject) {
  if (options.verify) {
    SavedFacts earlier;
    if (options.file.empty()) {
      ASSIGN_OR_RETURN(earlier, earlier_facts());
    } else {
      ASSIGN_OR_RETURN(earlier.facts, read_path(options.file));
      earlier.path = options.file;
    }
    return Comparison{.title = fmt::format("Compared with {}:", earlier.path.string()),
                      .changes = doctor::changes(earlier.facts, subject.facts)};
  }
  if (options.what_if.empty()) return std::nullopt;
  const std::string edits = fmt::format("{}", fmt::join(options.what_if, ","));
  ASSIGN_OR_RETURN(host::HostFacts changed, doctor::what_if(subject.facts, edits));
  Comparison comparison{
      .title = fmt::format("As it would be with {}, by the rules; nothing was changed:", edits),
      .changes = doctor::changes(subject.facts, changed)};
  subject.facts = std::move(changed);
  return comparison;
}

std::string comparison_text(const Comparison& comparison, const doctor::TextStyle& style) {
  doctor::TextPage page(style);
  page.paragraph("", comparison.title);
  return page.take() + to_text(comparison.changes, style) + "\n";
}

// Never stands in the way of the report: a machine with a full disk can be ill too.
void save(const host::HostFacts& facts) {
  const auto path = save_facts(facts);
  if (!path) {
    fmt::print(stderr, "evener: {}\n", to_string(path.error()));
  } else if (!options.json) {
    fmt::print("\nSaved for evener doctor --verify after a change: {}\n", path->string());
  }
}

Result<int> judge() {
  if (!options.explain.empty()) {
    ASSIGN_OR_RETURN(const std::string text,
                     doctor::explain(options.explain, output_style(options.no_colour)));
    fmt::print("{}", text);
    return 0;
  }
  ASSIGN_OR_RETURN(Subject subject, read_subject());
  ASSIGN_OR_RETURN(const std::optional<Comparison> comparison, compare(subject));
  const doctor::Report report = doctor::diagnose(subject.facts);
  const doctor::TextStyle style = output_style(options.no_colour);
  if (options.json) {
    fmt::print("{}", doctor::report_json(subject.facts, report,
                                         comparison ? &comparison->changes : nullptr));
  } else {
    if (comparison) fmt::print("{}", comparison_text(*comparison, style));
    fmt::print("{}", doctor::to_text(subject.facts, report, style));
  }
  if (subject.is_this_machine && options.what_if.empty()) save(subject.facts);
  return doctor::has_findings(report) ? kExitFindings : 0;
}

// Every failure has the one status that says so: 1 is for findings.
Result<int> run() {
  const Result<int> status = judge();
  if (status) return *status;
  fmt::print(stderr, "evener: {}\n", to_string(status.error()));
  return kExitUnreadable;
}

}  // namespace

extern const Command doctor_command;
const Command doctor_command = {
    .name = "doctor",
    .summary = "Tell whether the cards of a machine can work together, why not, what to change",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
