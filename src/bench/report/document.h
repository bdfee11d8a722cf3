#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/report/analysis.h"
#include "bench/report/text.h"

namespace evener::bench {

// What a report says, before it is written for a terminal, a forum or a browser.

struct TableColumn {
  Text title;
  std::string unit;     // written in the head, once
  std::string formula;  // empty if there is none
  bool is_number = true;
};

struct TableEntry {
  Text text;             // empty: nothing known here
  std::string interval;  // "[low, high]" in the column's format; empty if there is none
};

enum class RowMark : uint8_t {
  none,
  fewer_rounds,  // some rounds are in no result
  no_result,     // all are: its figures are empty
};

struct TableRow {
  std::vector<TableEntry> entries;  // as many as columns
  RowMark mark = RowMark::none;
};

struct Table {
  std::string id;  // unique in a document, for links
  Text title;      // empty for the first table of a section
  std::vector<TableColumn> columns;
  size_t num_key_columns = 0;  // the first ones: they say what a row is about
  std::vector<TableRow> rows;
  Text note;  // under it
};

// A few values in a row, for a line of little bars.
struct Spark {
  Text label;
  std::vector<double> values;
  std::string unit;
};

// A share of a whole: the phases of a cold start.
struct PhaseBar {
  Text label;
  struct Phase {
    Text name;
    double seconds;
  };
  std::vector<Phase> phases;
};

struct Section {
  std::string id;
  Text title;
  Text lead;
  std::vector<Table> tables = {};
  std::vector<Spark> sparks = {};
  std::vector<PhaseBar> bars = {};
  std::vector<Text> remarks = {};
};

struct CaliberPart {
  Text group;  // "Server"
  Text facts;  // "evener 0.1.0, over loopback"
};

// A figure of the first lines.
struct Headline {
  Text label;
  std::string value;
  std::string unit;
  Text about;  // "at 8192 tokens"
};

struct Warning {
  Severity severity = Severity::warning;
  Text fault;
  Text where;
  std::string detail;
};

struct Document {
  Text title;
  Text subtitle;  // run, time, state
  Text note;      // the user's words
  std::vector<Headline> headlines;
  std::vector<CaliberPart> caliber;
  std::string caliber_hash;
  std::vector<Text> run_void;  // why the whole run is, if it is
  Text nothing;                // that the run has no cells, if so
  std::vector<Section> sections;
  std::vector<Warning> warnings;
  Table void_cells;  // no rows: none
  Section failures;
  std::vector<Text> not_measured;
};

Document document_of(const Analysis& analysis);

// Its parts.
std::vector<Section> experiment_sections(const Analysis& analysis);
Section experiment_section(const Analysis& analysis, std::string_view experiment);
void add_starvation_gaps(const Analysis& analysis, Section& section);
void add_phases(const Analysis& analysis, Section& section);
Section telemetry_section(const Run& run);
std::vector<CaliberPart> caliber_parts(const Caliber& caliber);
std::vector<Headline> headlines(const Analysis& analysis);
std::vector<Warning> warnings(const Analysis& analysis);
Table void_cells(const Analysis& analysis);
Section failures(const Analysis& analysis);
std::vector<Text> not_measured(const Analysis& analysis);

// "length 8192": a point in words; "Context length, length 8192"; then with ", round 2".
Text point_name(const std::map<std::string, std::string>& target);
Text cell_name(const CellRecord& cell);
Text cell_and_round(const CellRecord& cell);
// "8192", "1 MiB", "prose": a target's value in words.
Text target_value(std::string_view key, std::string_view value);
Text severity_text(Severity severity);
// "Load" for "phase_load_s", "Speed kept" for "speed_kept".
Text value_title(std::string_view key);

}  // namespace evener::bench
