#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the rules made of a machine's facts. Names of cards are Gpu::name of the facts; ids of rules
// (R40) and fixes (F04) are those of reference/host/pci-p2p.md, section 7, and never change
// meaning.

namespace evener::doctor {

// In order of badness for a pair: the worst that any rule gave is the pair's.
enum class Verdict { works, degraded, unknown, unsafe, blocked };
enum class Route { unknown, same_switch, root, cross_host };

std::string_view to_string(Verdict verdict);  // "works" ...
std::string_view to_string(Route route);      // "switch", "root", "cross-host", "unknown"

enum class Risk { none, low, low_to_medium, medium, medium_to_high, high };

std::string_view to_string(Risk risk);  // "none", "low", "low to medium" ...

struct Fix {
  std::string_view id;      // "F04"
  std::string_view action;  // "BIOS: lower the base of MMIO High below 16 TiB"
  Risk risk = Risk::none;
  std::string_view undo;
  std::string_view verify;   // the fact that shows it worked
  std::string_view command;  // a shell command that prints that fact; empty: none can
};

// What one rule found. A finding that only passes a gate has severity `pass`.
struct Finding {
  enum class Severity { pass, note, warning, problem };
  std::string rule;  // "R40"
  Severity severity = Severity::note;
  std::string title;                  // one sentence
  std::vector<std::string> evidence;  // facts with their numbers
  std::vector<std::string> says;      // what follows from it and must be told
  std::vector<std::string> fixes;     // ids in order of risk
  std::vector<std::string> gpus;      // whom it is about
  std::vector<std::string> pairs;     // "A>B": into B's memory; "A-B": both ways
};

std::string_view to_string(Finding::Severity severity);  // "pass", "note", "warning", "problem"

struct PairReport {
  std::string a;
  std::string b;
  Verdict verdict = Verdict::unknown;
  bool verified = false;  // a data check was seen
  Route route = Route::unknown;
  std::vector<std::string> rules;  // that decided, in order
  std::string because;             // one sentence
  // Each hop from a to b, and the slowest of them, where links are known.
  std::optional<double> raw_gb_per_s;
};

// Every gate is open and nobody has compared the bytes.
bool is_allowed(const PairReport& pair);
// What people are told: the verdict, or "allowed".
std::string_view word_of(const PairReport& pair);

struct BarReport {
  std::string gpu;
  std::optional<uint64_t> now_bytes;
  std::optional<uint64_t> need_bytes;  // the VRAM
  std::optional<uint64_t> max_bytes;   // the largest that the card offers
};

struct Hop {
  std::string port;  // Function::name of the lower end
  std::optional<double> gts;
  std::optional<unsigned> width;
  std::optional<double> raw_gb_per_s;  // per direction
  bool idle_reading = false;           // may be power saving
};

struct LinkReport {
  std::string gpu;
  std::vector<Hop> hops;  // from the card up to the root bus
};

// One way to use the cards for one model, with the arithmetic that led there.
struct ModeAdvice {
  std::string mode;  // "tensor parallel", "layer split", "one card"
  std::vector<std::string> gpus;
  std::vector<std::string> arithmetic;  // lines a person can check
  std::string why;
};

struct PowerEstimate {
  std::optional<double> cards_watts;
  std::optional<double> system_watts;  // cards and the rest, with the stated reserve
  std::vector<std::string> arithmetic;
};

struct Report {
  std::vector<PairReport> pairs;
  std::vector<Finding> findings;  // problems first
  std::vector<BarReport> bars;
  std::vector<LinkReport> links;
  std::optional<Hop> bottleneck;
  std::vector<std::string> fixes;  // ids over all findings, in the order to try
  std::vector<ModeAdvice> advice;  // the best first
  PowerEstimate power;
  std::vector<std::string> kernel_help;  // lines to show as they are: patch, options, burn-in
  std::string summary;                   // one or two sentences
};

// Is there something to look at: a pair that does not work, or a finding that is more than a note?
bool has_findings(const Report& report);

}  // namespace evener::doctor
