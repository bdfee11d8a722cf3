// Goal: every format decodes to the very bits that llama.cpp's own code gives.
// Method: blocks and values that llama.cpp wrote, a small part of them in tests/data/quant, all of
// them in the shared folder where there is one. Half are random bits with sane scales.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "quant/format.h"

namespace evener::quant {
namespace {

namespace fs = std::filesystem;

// Behind the header of NumPy's format, version 1.0.
std::span<const std::byte> npy_data(std::span<const std::byte> file) {
  const size_t header = size_t(file[8]) | size_t(file[9]) << 8;
  return file.subspan(10 + header);
}

void expect_equal_bits(std::span<const std::byte> got, std::span<const std::byte> wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); i += 4) {
    ASSERT_EQ(std::memcmp(&got[i], &wanted[i], 4), 0) << "value " << i / 4;
  }
}

void expect_decodes(const Format& format, std::span<const std::byte> blocks,
                    std::span<const std::byte> values) {
  const DTypeInfo& layout = info(format.dtype);
  ASSERT_GT(blocks.size(), 0u);
  ASSERT_EQ(blocks.size() % layout.block_bytes, 0u);
  std::vector<float> decoded(blocks.size() / layout.block_bytes * layout.block_size);
  format.decode(blocks, decoded.data());
  expect_equal_bits(std::as_bytes(std::span(decoded)), values);
}

class EveryFormat : public testing::TestWithParam<const Format*> {
 protected:
  std::string name() const { return std::string(info(GetParam()->dtype).name); }
};

TEST_P(EveryFormat, IsFoundByItsType) { EXPECT_EQ(find_format(GetParam()->dtype), GetParam()); }

TEST_P(EveryFormat, DecodesTheStoredBlocksToEqualBits) {
  if (name() == "F32") GTEST_SKIP() << "nothing to decode";
  const fs::path folder = fs::path(EVENER_TEST_DATA) / "quant";
  const auto blocks = MappedFile::open(folder / (name() + ".blocks"));
  const auto values = MappedFile::open(folder / (name() + ".values"));
  ASSERT_TRUE(blocks.has_value());
  ASSERT_TRUE(values.has_value());
  expect_decodes(*GetParam(), blocks->bytes(), values->bytes());
}

TEST_P(EveryFormat, DecodesAllSharedBlocksToEqualBits) {
  const fs::path folder = fs::path(EVENER_SHARED) / "golden" / "vectors";
  const auto blocks = MappedFile::open(folder / (name() + ".raw.npy"));
  const auto values = MappedFile::open(folder / (name() + ".expected.npy"));
  if (!blocks || !values) GTEST_SKIP() << "no shared vectors of this type";
  expect_decodes(*GetParam(), npy_data(blocks->bytes()), npy_data(values->bytes()));
}

TEST_P(EveryFormat, DecodesNothingFromNothing) { GetParam()->decode({}, nullptr); }

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat,
                         testing::ValuesIn(formats().begin(), formats().end()),
                         [](const auto& instance) {
                           return std::string(evener::info(instance.param->dtype).name);
                         });

TEST(FindFormat, KnowsNoTypeThatIsNotAWeight) {
  EXPECT_EQ(find_format(DType::I32), nullptr);
  EXPECT_EQ(find_format(DType::Q8_K), nullptr);
}

TEST(F32Format, CopiesBits) {
  const float values[] = {0.0f, -0.0f, 1.5f, 1e-45f, 3e38f};
  float decoded[5] = {};
  find_format(DType::F32)->decode(std::as_bytes(std::span(values)), decoded);
  EXPECT_EQ(std::memcmp(values, decoded, sizeof values), 0);
}

}  // namespace
}  // namespace evener::quant
