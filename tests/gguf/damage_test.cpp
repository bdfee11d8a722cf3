// Damaged files: cut at every byte, or with bits turned over at random. Nothing may crash (the
// sanitizer builds watch), and a cut file must be refused.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "gguf/file.h"
#include "gguf/header.h"

namespace evener::gguf {
namespace {

// Small, but with every kind of field.
std::vector<std::byte> sample() {
  Header header;
  header.set("general.architecture", "llama");
  header.set("general.alignment", uint32_t{32});
  header.set("llama.block_count", uint32_t{2});
  header.set("flag", true);
  header.set("f64", 1.5);
  header.set_array("tokens", std::vector<std::string_view>{"<s>", "a", "bc"});
  header.set_array("scores", std::vector<float>{0, -1, -2});
  header.set_array("flags", std::vector<uint8_t>{1, 0});
  std::vector<Array> rows(2, Array(std::vector<std::string_view>{"x", "y"}));
  header.set("nested", Value(ValueType::array, Array(std::move(rows))));
  const uint64_t matrix[] = {32, 4};
  const uint64_t vector[] = {5};
  header.add_tensor("matrix", DType::Q4_0, matrix);
  header.add_tensor("vector", DType::F16, vector);
  std::vector<std::byte> bytes = header.encode();
  bytes.resize(bytes.size() + 96 + 10);  // ends with the last tensor's last byte
  return bytes;
}

// Every byte that a reader of an accepted file could reach.
size_t touch(const File& file) {
  size_t sum = 0;
  for (const Tensor& tensor : file.tensors()) {
    for (const std::byte byte : tensor.bytes) sum += std::to_integer<size_t>(byte);
    sum += tensor.num_elements() + tensor.name.size();
  }
  for (const MetadataEntry& entry : file.metadata()) {
    if (const auto text = entry.value.as_string()) sum += text->size();
    if (const Array* array = entry.value.as_array()) {
      for (const std::string_view text : array->strings()) sum += text.size();
    }
    sum += file.get_ints(entry.key).has_value() ? 1 : 0;
    sum += file.get_floats(entry.key).has_value() ? 1 : 0;
  }
  return sum;
}

TEST(Damage, AFileCutAtAnyByteIsRefused) {
  const std::vector<std::byte> whole = sample();
  ASSERT_TRUE(File::parse(whole, "whole"));
  for (size_t size = 0; size < whole.size(); ++size) {
    // A heap block of exactly this size: the sanitizer sees a read of one byte too far.
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto file = File::parse(cut, "damaged.gguf");
    ASSERT_FALSE(file) << "cut at " << size;
    EXPECT_FALSE(file.error().why.empty());
    EXPECT_TRUE(file.error().where.starts_with("damaged.gguf"));
  }
}

TEST(Damage, BitsTurnedOverNeverCrash) {
  const std::vector<std::byte> whole = sample();
  constexpr uint32_t kSeed = 20260101;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  int num_accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> damaged = whole;
    const size_t num_flips = 1 + random() % 4;
    for (size_t i = 0; i < num_flips; ++i) {
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    const auto file = File::parse(damaged, "damaged.gguf");
    if (!file) continue;
    ++num_accepted;
    EXPECT_GT(touch(*file), 0U);
  }
  EXPECT_GT(num_accepted, 100);   // else only the first check was tried
  EXPECT_LT(num_accepted, 4900);  // else nothing was checked
}

// Whole fields replaced by the numbers that break arithmetic.
TEST(Damage, ExtremeNumbersInEveryPlaceNeverCrash) {
  const std::vector<std::byte> whole = sample();
  const uint64_t numbers[] = {0,
                              1,
                              0x7fffffff,
                              0x80000000,
                              0xffffffff,
                              uint64_t{1} << 32,
                              uint64_t{1} << 61,
                              uint64_t{1} << 62,
                              uint64_t{1} << 63,
                              ~uint64_t{0} - 31,
                              ~uint64_t{0}};
  for (const uint64_t number : numbers) {
    for (size_t at = 4; at + sizeof number <= whole.size(); ++at) {
      std::vector<std::byte> damaged = whole;
      std::memcpy(damaged.data() + at, &number, sizeof number);
      const auto file = File::parse(damaged, "damaged.gguf");
      if (file) {
        EXPECT_GT(touch(*file), 0U);
      }
    }
  }
}

}  // namespace
}  // namespace evener::gguf
