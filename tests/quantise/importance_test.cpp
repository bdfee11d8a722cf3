// Goal: both kinds of importance files are read, and no damaged one is believed.
#include "quantise/importance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gguf/header.h"

namespace evener::quantise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A .dat file, number by number.
class Dat {
 public:
  Dat& number(int32_t value) { return raw(&value, sizeof value); }
  Dat& text(std::string_view text) {
    number(int32_t(text.size()));
    return raw(text.data(), text.size());
  }
  Dat& floats(const std::vector<float>& values) {
    return raw(values.data(), values.size() * sizeof(float));
  }
  Dat& entry(std::string_view name, int32_t calls, const std::vector<float>& values) {
    return text(name).number(calls).number(int32_t(values.size())).floats(values);
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  Result<Importance> parse() const { return Importance::parse(bytes_, "im.dat"); }

 private:
  Dat& raw(const void* data, size_t size) {
    const auto* const bytes = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

TEST(ImportanceDat, GivesMeansAndWhereTheyComeFrom) {
  const auto read = Dat()
                        .number(2)
                        .entry("a.weight", 4, {8, 2})
                        .entry("b.weight", 0, {3})
                        .number(7)
                        .text("wiki")
                        .parse();
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_THAT(read->find("a.weight"), ElementsAre(2, 0.5f));
  EXPECT_THAT(read->find("b.weight"), ElementsAre(3));
  EXPECT_TRUE(read->find("c.weight").empty());
  EXPECT_EQ(read->size(), 2u);
  EXPECT_EQ(read->num_chunks(), 7u);
  EXPECT_EQ(read->dataset(), "wiki");
}

TEST(ImportanceDat, OldOnesEndBehindTheEntries) {
  const auto read = Dat().number(1).entry("a.weight", 1, {1}).parse();
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(read->num_chunks(), 0u);
  EXPECT_EQ(read->dataset(), "");
}

TEST(ImportanceDat, CutAnywhereItIsRefused) {
  const Dat whole = Dat().number(2).entry("a.weight", 4, {8, 2}).entry("b.weight", 1, {3, 4});
  for (size_t size = 0; size < whole.bytes().size(); ++size) {
    const auto read = Importance::parse(whole.bytes().first(size), "im.dat");
    ASSERT_FALSE(read.has_value()) << size;
    EXPECT_EQ(read.error().code, Code::corrupt);
    EXPECT_THAT(read.error().where, HasSubstr("im.dat"));
  }
}

TEST(ImportanceDat, HugeCountsTakeNoMemory) {
  EXPECT_FALSE(Dat().number(std::numeric_limits<int32_t>::max()).parse().has_value());
  EXPECT_FALSE(Dat().number(-1).parse().has_value());
  EXPECT_FALSE(Dat().number(0).parse().has_value());
  EXPECT_FALSE(Dat().number(1).text("a").number(1).number(2'000'000'000).parse().has_value());
  EXPECT_FALSE(Dat().number(1).number(2'000'000'000).parse().has_value());
  EXPECT_FALSE(Dat().number(1).number(-5).parse().has_value());
  EXPECT_FALSE(Dat().number(1).text("a").number(1).number(-2).parse().has_value());
}

TEST(ImportanceDat, ValuesMustBeMeansOfSquares) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float value : {-1.0f, kInfinity, kNan}) {
    const auto read = Dat().number(1).entry("a.weight", 1, {1, value}).parse();
    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().where, HasSubstr("'a.weight'"));
  }
}

TEST(ImportanceDat, NobodyIsToldOfTwice) {
  const auto read = Dat().number(2).entry("a", 1, {1}).entry("a", 1, {1}).parse();
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().why, HasSubstr("twice"));
}

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;
  DType dtype = DType::F32;
};

Result<Importance> parse_gguf(const std::vector<GgufTensor>& tensors,
                              const char* type = "imatrix") {
  gguf::Header header;
  header.set("general.type", type);
  header.set("imatrix.chunk_count", uint32_t{5});
  const std::vector<std::string_view> datasets = {"calibration.txt"};
  header.set_array("imatrix.datasets", std::span<const std::string_view>(datasets));
  for (const GgufTensor& tensor : tensors)
    header.add_tensor(tensor.name, tensor.dtype, tensor.shape);
  std::vector<std::byte> bytes = header.encode();
  for (const GgufTensor& tensor : tensors) {
    const auto data = std::as_bytes(std::span(tensor.values));
    bytes.insert(bytes.end(), data.begin(), data.end());
    bytes.resize((bytes.size() + 31) / 32 * 32);
  }
  return Importance::parse(bytes, "im.gguf");
}

TEST(ImportanceGguf, DividesTheSumsOfEachExpert) {
  const auto read = parse_gguf(
      {{"a.weight.in_sum2", {3, 2}, {2, 4, 6, 1, 1, 1}}, {"a.weight.counts", {1, 2}, {2, 0}}});
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_THAT(read->find("a.weight"), ElementsAre(1, 2, 3, 0, 0, 0));
  EXPECT_EQ(read->num_chunks(), 5u);
  EXPECT_EQ(read->dataset(), "calibration.txt");
}

TEST(ImportanceGguf, SumsAndCountsMustFit) {
  EXPECT_FALSE(parse_gguf({{"a.in_sum2", {3, 2}, std::vector<float>(6)}}).has_value());
  EXPECT_FALSE(
      parse_gguf({{"a.in_sum2", {3, 2}, std::vector<float>(6)}, {"a.counts", {1, 3}, {1, 1, 1}}})
          .has_value());
  EXPECT_FALSE(parse_gguf({{"a.in_sum2", {3}, {1, -2, 1}}, {"a.counts", {1}, {1}}}).has_value());
  const auto halves = parse_gguf({{"a.in_sum2", {2}, {0}, DType::F16}, {"a.counts", {1}, {1}}});
  ASSERT_FALSE(halves.has_value());
  EXPECT_THAT(halves.error().why, HasSubstr("F32"));
}

TEST(ImportanceGguf, AModelIsNoImportanceMatrix) {
  const auto read = parse_gguf({{"a.in_sum2", {1}, {1}}, {"a.counts", {1}, {1}}}, "model");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(to_string(read.error()), HasSubstr("general.type"));
  EXPECT_FALSE(parse_gguf({{"a.weight", {1}, {1}}}).has_value()) << "tells of nothing";
}

}  // namespace
}  // namespace evener::quantise
