// Goal: numbers, lines and tables are written so that they can be read, at any width.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "bench/report/numbers.h"
#include "bench/report/spark.h"
#include "bench/report/table_builder.h"
#include "bench/report/text_table.h"
#include "bench/report/wrap.h"

namespace evener::bench {
namespace {

TEST(Numbers, OfAColumnShareUnitAndDecimals) {
  const NumberFormat slow = format_for(std::array{412.0, 47'580.0}, "ms");
  EXPECT_EQ(slow.unit, "s");
  EXPECT_EQ(number(412, slow), "0.41");
  EXPECT_EQ(number(47'580, slow), "47.58");
  const NumberFormat fast = format_for(std::array{20.25, 301.5}, "ms");
  EXPECT_EQ(number(20.25, fast) + fast.unit, "20.2ms");
  EXPECT_EQ(quantity(0.931, "share"), "93.1%");
  EXPECT_EQ(quantity(1536, "bytes"), "1.50 KiB");
  EXPECT_EQ(quantity(256, "tokens"), "256 tokens");
  EXPECT_EQ(quantity(12'345.6, "tokens/s"), "12,346 tok/s");
}

TEST(Numbers, ThatAreNoneAreNotPrinted) {
  const NumberFormat format;
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN(), format), "-");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity(), format), "-");
  EXPECT_EQ(number(1e300, format), "1e+300");
  EXPECT_EQ(number(0, format_for({}, "ms")), "0");
}

TEST(Wrap, BreaksAtSpacesAndBetweenChineseCharactersButNotBeforeAMark) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("单请求，逐级", 6), (std::vector<std::string>{"单请", "求，逐", "级"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_EQ(wrap("", 3), std::vector<std::string>{""});
  for (const std::string& line : wrap("TTFT 首字延迟 is 1,234 ms（稳态）", 5)) {
    EXPECT_LE(columns_of(line), 5u) << line;
  }
}

TEST(Spark, RisesWithItsValues) {
  EXPECT_EQ(spark_line(std::array{1.0, 2.0, 3.0}, false), "▁▅█");
  EXPECT_EQ(spark_line(std::array{3.0, 1.0}, true), "#_");
  EXPECT_EQ(spark_line(std::array{2.0, 2.0}, true), "==");
  EXPECT_EQ(peaks(std::array{1.0, 9.0, 2.0, 3.0}, 2), (std::vector<double>{9, 3}));
  EXPECT_EQ(bar(0.001, 10, true), "#");
  EXPECT_EQ(bar(0.5, 10, true), "#####");
}

Table sample_table(size_t num_columns) {
  TableBuilder builder("t");
  builder.key_column(same("Length"));
  for (size_t i = 0; i < num_columns; ++i) {
    builder.number_column(same("Figure " + std::to_string(i)), "tokens/s");
  }
  builder.text_column(same("Why"));
  for (const double value : {1.5, 250.25}) {
    builder.row(value > 2 ? RowMark::fewer_rounds : RowMark::none);
    builder.text(same("8192"));
    for (size_t i = 0; i < num_columns; ++i) builder.number(value);
    builder.text(same("a long reason that has many words and goes on and on for ever and ever"));
  }
  return builder.finish();
}

std::string joined(const std::vector<TextTableLine>& lines) {
  std::string all;
  for (const TextTableLine& line : lines) all += line.text + "\n";
  return all;
}

TEST(TextTable, AlignsNumbersUnderTheirUnits) {
  TableBuilder builder("t");
  builder.key_column(same("Length"));
  builder.number_column(same("Decode, whole"), "tokens/s");
  builder.number_column(same("Nobody has this"), "ms");
  builder.row();
  builder.text(same("8192"));
  builder.number(41.25);
  builder.nothing();
  builder.row(RowMark::fewer_rounds);
  builder.text(same("16384"));
  builder.number(1023.5);
  builder.nothing();
  const std::string text = joined(text_table(builder.finish(), {.width = 60}));
  EXPECT_EQ(text,
            "            Decode,\n"
            "  Length      whole\n"
            "              tok/s\n"
            "  8192         41.2\n"
            "  16384    1023.5 *\n");
}

TEST(TextTable, FitsEveryWidthAndKeepsEveryFigure) {
  for (const size_t width : {40, 60, 100, 200}) {
    const Table table = sample_table(12);
    const std::vector<TextTableLine> lines = text_table(table, {.width = width});
    size_t num_values = 0;
    for (const TextTableLine& line : lines) {
      EXPECT_LE(columns_of(line.text), width) << line.text;
      for (size_t at = line.text.find("250.25"); at != std::string::npos;
           at = line.text.find("250.25", at + 1)) {
        ++num_values;
      }
    }
    EXPECT_EQ(num_values, 12u) << width << "\n" << joined(lines);
  }
}

}  // namespace
}  // namespace evener::bench
