#include "bench/server/prometheus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace evener::bench {
namespace {

TEST(Prometheus, ReadsSamplesWithTheirLabels) {
  const Samples samples = parse_prometheus(
      "# HELP up Whether it is up.\n"
      "# TYPE up gauge\n"
      "up 1\n"
      "vllm:drafts_total{model=\"a b\",note=\"br}ace \\\" quote\"} 12.5 1700000000\r\n"
      "\n"
      "latency_bucket{le=\"+Inf\"}\t3e2\n"
      "last -4");
  const Samples expected = {{"up", 1},
                            {"vllm:drafts_total{model=\"a b\",note=\"br}ace \\\" quote\"}", 12.5},
                            {"latency_bucket{le=\"+Inf\"}", 300},
                            {"last", -4}};
  EXPECT_EQ(samples, expected);
}

TEST(Prometheus, LeavesOutWhatIsNoSample) {
  const std::string long_name(1025, 'x');
  EXPECT_EQ(parse_prometheus("nan NaN\ninf +Inf\nhuge 1e999\nno_value\nword five\nopen{a=\"b 1\n"
                             " 3\n\"q\" 1\ntail 1x\n{} \n" +
                             long_name + " 1\nbytes\xff 2\nok 7\n"),
            (Samples{{"ok", 7}}));
  EXPECT_TRUE(parse_prometheus("").empty());
  EXPECT_TRUE(parse_prometheus("<!DOCTYPE html>\n<p>5</p>").empty());
}

TEST(Prometheus, StopsAfterTwentyThousand) {
  std::string text;
  for (int i = 0; i < 20'001; ++i) text += fmt::format("x{{i=\"{}\"}} 1\n", i);
  EXPECT_EQ(parse_prometheus(text).size(), 20'000);
}

TEST(Prometheus, SumsOverLabelsOfThatNameAlone) {
  const Samples samples = {
      {"a", 1}, {"a{x=\"1\"}", 2}, {"a{x=\"2\"}", 3}, {"a_total", 50}, {"aa{x=\"1\"}", 70}};
  EXPECT_EQ(sum_of(samples, "a"), 6);
  EXPECT_EQ(sum_of(samples, "a_t"), std::nullopt);
}

TEST(Prometheus, FindsALabel) {
  const Samples samples = {{"c_info{block_size=\"16\",gpu_block_size=\"7\",open=\"", 1}};
  EXPECT_EQ(label_of(samples, "c_info", "block_size"), "16");
  EXPECT_EQ(label_of(samples, "c_info", "size"), std::nullopt);
  EXPECT_EQ(label_of(samples, "c_info", "open"), std::nullopt);
  EXPECT_EQ(label_of(samples, "c", "block_size"), std::nullopt);
}

}  // namespace
}  // namespace evener::bench
