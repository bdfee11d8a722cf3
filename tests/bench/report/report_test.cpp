// Goal: a report says what the records say, marks what does not count, and can be shown anywhere,
// whatever was recorded. Method: runs made by hand (sample_run.h).
#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "base/json.h"
#include "base/utf8.h"
#include "bench/metrics.h"
#include "bench/report/sample_run.h"
#include "bench/report/text.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string plain_text(const Run& run, unsigned width = 100, bool ascii = false) {
  return report_text(run, Language::english, {.width = width, .colour = false, .ascii = ascii});
}

// From the line with `heading` to the next heading.
std::string section_of(const std::string& text, const std::string& heading) {
  const size_t begin = text.find("\n" + heading + " ─");
  if (begin == std::string::npos) return {};
  const size_t end = text.find(" ───", text.find('\n', begin + 1));
  return text.substr(begin, end - begin);
}

json::Value appendix_of(const Run& run) {
  return json::parse(report_json(run), "appendix").value();
}

const json::Value* point_of(const json::Value& appendix, const std::string& experiment,
                            const std::string& key, const std::string& value) {
  for (const json::Value& point : appendix["points"]) {
    if (point["experiment"] == experiment && point["target"].value(key, "") == value) return &point;
  }
  return nullptr;
}

// One request of 101 tokens: the first after 250 ms, then one each 20 ms.
Run tiny_run() {
  Run run;
  run.header.name = "sweep";
  run.cells.push_back({.key = "sweep/1000/1",
                       .experiment = "sweep",
                       .target = {{"num_tokens_in", "1000"}},
                       .round = 1,
                       .ended = std::chrono::seconds(3)});
  RequestRecord request;
  request.cell = "sweep/1000/1";
  request.label = "cold";
  for (int i = 0; i <= 100; ++i) {
    request.events.push_back({.at = std::chrono::milliseconds(250 + 20 * i), .num_tokens = 1});
  }
  request.ended = request.events.back().at;
  request.http_status = 200;
  request.done_seen = true;
  request.finish = Finish::length;
  request.num_tokens_in = 1000;
  request.num_tokens_cached = 0;
  request.num_tokens_out = 101;
  run.requests.push_back(std::move(request));
  run.state = RunState::complete;
  return run;
}

TEST(ReportText, HasTheFiguresOfARequestThatCanBeWorkedOutByHand) {
  const std::string sweep = section_of(plain_text(tiny_run()), "Context length");
  EXPECT_THAT(sweep,
              HasSubstr("1000     250     4000         50          0     101         20  1"));
}

TEST(ReportText, HasEveryPartOfTheSpecification) {
  const std::string text = plain_text(sample_run(), 250);  // no sentence is broken
  for (const char* heading :
       {"Caliber", "At a glance", "Context length", "Concurrency", "Arriving load", "Starvation",
        "Prefix reuse", "Speculation", "Soak", "Quality", "Cold start", "This machine", "Links",
        "Sensors under the run", "Warnings", "Failures", "What was not measured"}) {
    EXPECT_FALSE(section_of(text, heading).empty()) << heading;
  }
  EXPECT_THAT(text, HasSubstr("Qwen3-14B-Q4_K_M"));
  EXPECT_THAT(section_of(text, "Arriving load"), HasSubstr("TTFT <= 1000 ms"));
  EXPECT_THAT(section_of(text, "Starvation"),
              HasSubstr("Expected by formula, ceil(attacker's tokens / chunk): 48 gaps"));
  EXPECT_THAT(section_of(text, "Failures"), HasSubstr("HTTP 503 queue is full"));
}

TEST(ReportText, NeverMixesVoidAndPartialCellsIntoResults) {
  const bench::Run run = sample_run();
  const std::string sweep = section_of(plain_text(run), "Context length");
  EXPECT_THAT(sweep, HasSubstr("2/3 *"));    // 16384: one of three rounds is void
  EXPECT_THAT(sweep, HasSubstr("partial"));  // 32768: no complete round
  EXPECT_THAT(sweep, HasSubstr("0/3 *"));
  const std::string warnings = section_of(plain_text(run, 200), "Warnings");
  EXPECT_THAT(warnings, HasSubstr("length 16384, round 2"));
  EXPECT_THAT(warnings, HasSubstr("12,288 of 16,384 tokens cached"));

  const json::Value appendix = appendix_of(run);
  const json::Value* voided = point_of(appendix, "sweep", "num_tokens_in", "16384");
  ASSERT_NE(voided, nullptr);
  EXPECT_EQ((*voided)["figures"]["ttft_ms"]["n"], 2);
  EXPECT_EQ((*voided)["left_out"], 1);
  const json::Value* partial = point_of(appendix, "sweep", "num_tokens_in", "32768");
  ASSERT_NE(partial, nullptr);
  EXPECT_TRUE((*partial)["figures"].empty());
}

TEST(ReportText, AFindingThatVoidsTakesAWholeRunOutOfTheResults) {
  bench::Run run = tiny_run();
  run.findings.push_back({Fault::clock_jumped, Severity::voids, "", "", "by 3600 s"});
  const std::string text = plain_text(run);
  EXPECT_THAT(text, HasSubstr("The whole run is void: clock jumped (by 3600 s)"));
  EXPECT_THAT(section_of(text, "Context length"), Not(HasSubstr("4000")));
}

TEST(ReportText, FitsItsWidthInBothLanguages) {
  const bench::Run runs[] = {sample_run(), hostile_run()};
  for (const bench::Run& run : runs) {
    for (const unsigned width : {40u, 66u, 100u, 160u}) {
      for (const Language language : {Language::english, Language::chinese}) {
        std::istringstream text(report_text(run, language, {.width = width, .colour = false}));
        for (std::string line; std::getline(text, line);) {
          EXPECT_LE(columns_of(line), width) << line;
        }
      }
    }
  }
}

TEST(ReportText, InAsciiHasNoOtherCharacter) {
  for (const char c : plain_text(sample_run(), 100, true)) {
    if (uint8_t(c) >= 0x80) FAIL() << "byte " << int(uint8_t(c));
  }
}

TEST(ReportText, OfAnEmptyRunSaysThatNothingWasMeasured) {
  const std::string text = plain_text(bench::Run{});
  EXPECT_THAT(text, HasSubstr("This run recorded no caliber"));
  EXPECT_THAT(text, HasSubstr("This run has no cells"));
  EXPECT_THAT(text, HasSubstr("This machine: not run"));
  EXPECT_TRUE(appendix_of(bench::Run{})["cells"].empty());
  EXPECT_THAT(report_html(bench::Run{}, Language::chinese), HasSubstr("这次运行没有任何单元"));
  EXPECT_THAT(report_markdown(bench::Run{}, Language::english), HasSubstr("no cells"));
}

TEST(ReportText, KeepsCommandsOfATerminalOutOfIt) {
  const std::string text = plain_text(hostile_run());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
  EXPECT_TRUE(utf8::is_valid(text));
}

TEST(ReportJson, HasStableKeys) {
  const json::Value appendix = appendix_of(sample_run());
  for (const char* key : {"schema", "version", "run", "caliber", "caliber_hash", "metrics",
                          "points", "cells", "findings", "failures", "sensors", "not_measured"}) {
    EXPECT_TRUE(appendix.contains(key)) << key;
  }
  const json::Value& cell = appendix["cells"][0];
  EXPECT_EQ(cell["key"], "sweep/1024/1");
  EXPECT_EQ(cell["requests"]["excluded"], 1);
  EXPECT_EQ(cell["requests"]["finish"]["length"], 1);
  for (const char* key : {"n", "mean", "sd", "min", "p5", "p50", "p90", "p95", "max"}) {
    EXPECT_TRUE(cell["figures"]["ttft_ms"].contains(key)) << key;
  }
  EXPECT_EQ(appendix["sensors"]["cards"][0]["bus"], "0000:03:00.0");
  const json::Value* load = point_of(appendix, "load", "requests_per_s", "1");
  ASSERT_NE(load, nullptr);
  EXPECT_GT((*load)["goodput"]["share"], 0);
}

// What a browser would take for the page's own words.
std::string without_known_scripts(std::string html) {
  for (size_t begin = 0; (begin = html.find("<script", begin)) != std::string::npos;) {
    const size_t end = html.find("</script>", begin);
    html.erase(begin, end + 9 - begin);
  }
  return html;
}

TEST(ReportHtml, HasNoElementThatARunBroughtAlong) {
  const std::string html = report_html(hostile_run(), Language::english);
  EXPECT_TRUE(utf8::is_valid(html));
  const auto count = [&](const std::string& what) {
    size_t number = 0;
    for (size_t at = html.find(what); at != std::string::npos; at = html.find(what, at + 1))
      ++number;
    return number;
  };
  EXPECT_EQ(count("<script"), 4u);  // appendix, charts, uPlot, the page's own
  EXPECT_EQ(count("</script>"), 4u);
  EXPECT_EQ(count("<img"), 0u);
  EXPECT_EQ(count("<!--"), 0u);
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
}

TEST(ReportHtml, AsksForNothingFromAnywhere) {
  const std::string html = without_known_scripts(report_html(sample_run(), Language::english));
  const std::regex loads(
      "(src|href|action|data|poster|srcset)\\s*=\\s*[\"'](?!#)|url\\(|@import|//",
      std::regex::icase);
  std::smatch found;
  EXPECT_FALSE(std::regex_search(html, found, loads)) << found.str();
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(ReportHtml, HoldsTheAppendixAndBothLanguages) {
  const bench::Run run = sample_run();
  const std::string html = report_html(run, Language::chinese);
  const std::string opening = "<script type=\"application/json\" id=\"appendix\">\n";
  const size_t begin = html.find(opening) + opening.size();
  const auto inside =
      json::parse(html.substr(begin, html.find("</script>", begin) - begin), "inside");
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(*inside, appendix_of(run));
  EXPECT_THAT(html, AllOf(HasSubstr("data-language=\"zh\""), HasSubstr("首字延迟"),
                          HasSubstr("Cold start")));
  EXPECT_THAT(html, HasSubstr("title=\"(n_out - 1) / (t_last - t_1)\""));
  for (const char* chart :
       {"ttft-length", "prefill-length", "decode-length", "frontier", "concurrency-total",
        "ttft-cdf-load", "gap-cdf-starvation", "timeline-1", "power", "temperature", "clock",
        "memory", "turns", "links"}) {
    EXPECT_THAT(html, HasSubstr("data-chart=\"" + std::string(chart) + "\"")) << chart;
  }
}

TEST(ReportMarkdown, KeepsMarksOfARunInsideTheirTableCells) {
  const std::string markdown = report_markdown(hostile_run(), Language::english);
  for (size_t at = markdown.find('<'); at != std::string::npos; at = markdown.find('<', at + 1)) {
    EXPECT_EQ(markdown[at - 1], '\\') << markdown.substr(at, 20);
  }
  std::istringstream lines(markdown);
  size_t num_columns = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      num_columns = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (num_columns == 0) num_columns = bars;
    EXPECT_EQ(bars, num_columns) << line;
  }
}

TEST(ReportMarkdown, HasTablesCaliberAndFindings) {
  const std::string markdown = report_markdown(sample_run(), Language::chinese);
  EXPECT_THAT(markdown, HasSubstr("## 口径"));
  EXPECT_THAT(markdown, HasSubstr("| 输入长度 | 首字延迟 (s) |"));
  EXPECT_THAT(markdown, HasSubstr("- **作废** 冷启动提示词命中了缓存"));
}

TEST(ReportMetrics, HaveWordsAndColumnsUnderstandTheirUnits) {
  for (const Metric& metric : metrics()) {
    EXPECT_NE(find_word("metric." + std::string(metric.key)), nullptr) << metric.key;
  }
}

}  // namespace
}  // namespace evener::bench
