// The seed corpus of the fuzzer, without a fuzzer: files named ok_ are read, those named bad_ not.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/mapped_file.h"
#include "safetensors/header.h"

namespace evener::safetensors {
namespace {

TEST(Seeds, AreReadAsTheirNamesSay) {
  const auto folder = std::filesystem::path(EVENER_TEST_DATA) / "fuzz" / "safetensors";
  int num_ok = 0;
  int num_bad = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto file = MappedFile::open(entry.path());
    ASSERT_TRUE(file) << to_string(file.error());
    const auto tensors = read_header(file->bytes(), name);
    const bool is_expected_ok = name.starts_with("ok_");
    EXPECT_EQ(tensors.has_value(), is_expected_ok)
        << name << (tensors ? "" : ": " + to_string(tensors.error()));
    (is_expected_ok ? num_ok : num_bad) += 1;
  }
  EXPECT_GE(num_ok, 4);
  EXPECT_GE(num_bad, 12);
}

}  // namespace
}  // namespace evener::safetensors
