// The seed corpus of the fuzzer, without a fuzzer: files named ok_ open, those named bad_ do not.
#include <gtest/gtest.h>

#include <filesystem>

#include "gguf/file.h"

namespace evener::gguf {
namespace {

TEST(Seeds, AreReadAsTheirNamesSay) {
  const auto folder = std::filesystem::path(EVENER_TEST_DATA) / "fuzz" / "gguf";
  int num_ok = 0;
  int num_bad = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto file = MappedFile::open(entry.path());
    ASSERT_TRUE(file) << to_string(file.error());
    // From memory: a part of a split model is refused without a look at the folder.
    const auto parsed = File::parse(file->bytes(), name);
    const bool is_expected_ok = name.starts_with("ok_");
    EXPECT_EQ(parsed.has_value(), is_expected_ok)
        << name << (parsed ? "" : ": " + to_string(parsed.error()));
    (is_expected_ok ? num_ok : num_bad) += 1;
  }
  EXPECT_GE(num_ok, 10);
  EXPECT_GE(num_bad, 40);
}

}  // namespace
}  // namespace evener::gguf
