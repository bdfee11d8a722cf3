// What the writer writes, the reader reads, and other programs' files survive the round trip.
#include "gguf/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/temporary_folder.h"
#include "gguf/file.h"

namespace evener::gguf {
namespace {

using namespace std::literals;
using testing::ElementsAre;

std::vector<std::byte> counting_bytes(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

constexpr std::string_view kWords[] = {"a", "", "\0\xff"sv};
constexpr int32_t kNumbers[] = {-1, 2};
constexpr bool kFlags[] = {true, false};

Header every_kind() {
  Header header;
  header.set("u8", uint8_t{200});
  header.set("i8", int8_t{-100});
  header.set("u16", uint16_t{60000});
  header.set("i16", int16_t{-30000});
  header.set("u32", uint32_t{4'000'000'000});
  header.set("i32", int32_t{-2'000'000'000});
  header.set("u64", ~uint64_t{0});
  header.set("i64", std::numeric_limits<int64_t>::min());
  header.set("f32", 0.5F);
  header.set("f64", 0.1);
  header.set("bool", true);
  header.set("string", "hello");
  header.set_array("words", kWords);
  header.set_array("numbers", kNumbers);
  header.set_array("flags", kFlags);
  std::vector<Array> rows;
  rows.emplace_back(ValueType::i32, std::as_bytes(std::span(kNumbers)));
  rows.emplace_back(std::vector<std::string_view>{"x"});
  header.set("nested", Value(ValueType::array, Array(std::move(rows))));
  return header;
}

void expect_every_kind(const File& file) {
  EXPECT_EQ(file.metadata().size(), 16U);
  EXPECT_EQ(file.get_uint("u8").value(), 200U);
  EXPECT_EQ(file.get_int("i8").value(), -100);
  EXPECT_EQ(file.get_uint("u16").value(), 60000U);
  EXPECT_EQ(file.get_int("i16").value(), -30000);
  EXPECT_EQ(file.get_uint("u32").value(), 4'000'000'000U);
  EXPECT_EQ(file.get_int("i32").value(), -2'000'000'000);
  EXPECT_EQ(file.get_uint("u64").value(), ~uint64_t{0});
  EXPECT_EQ(file.get_int("i64").value(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(file.get_float("f32").value(), 0.5F);
  EXPECT_EQ(file.find("f64")->as_float(), 0.1);
  EXPECT_TRUE(file.get_bool("bool").value());
  EXPECT_EQ(file.get_string("string").value(), "hello");
  EXPECT_THAT(file.get_strings("words").value(), ElementsAre("a", "", "\0\xff"sv));
  EXPECT_THAT(file.get_ints("numbers").value(), ElementsAre(-1, 2));
  EXPECT_THAT(file.get_bools("flags").value(), ElementsAre(true, false));
  const Array* nested = file.find("nested")->as_array();
  ASSERT_EQ(nested->size(), 2U);
  EXPECT_EQ(nested->arrays()[0][1].as_int(), 2);
  EXPECT_THAT(nested->arrays()[1].strings(), ElementsAre("x"));
}

TEST(Writer, EveryKindOfValueComesBack) {
  const auto bytes = every_kind().encode();
  const auto file = File::parse(bytes, "memory");
  ASSERT_TRUE(file) << to_string(file.error());
  expect_every_kind(*file);
}

TEST(Writer, EveryKindOfValueSurvivesBeingCopiedToAnotherFile) {
  const auto bytes = every_kind().encode();
  const auto file = File::parse(bytes, "memory");
  ASSERT_TRUE(file) << to_string(file.error());
  Header copy;
  for (const auto& [key, value] : file->metadata()) copy.set(key, value);
  EXPECT_EQ(copy.encode(), bytes);
}

TEST(Writer, SettingAKeyAgainReplacesItsValueInPlace) {
  Header header;
  header.set("first", uint32_t{1});
  header.set("second", uint32_t{2});
  header.set("first", "one");
  const auto bytes = header.encode();
  const auto file = File::parse(bytes, "memory");
  ASSERT_TRUE(file) << to_string(file.error());
  ASSERT_EQ(file->metadata().size(), 2U);
  EXPECT_EQ(file->metadata()[0].key, "first");
  EXPECT_EQ(file->get_string("first").value(), "one");
}

TEST(Writer, TensorsWrittenInPiecesComeBackAligned) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.gguf";
  const uint64_t vector_shape[] = {3};
  const uint64_t matrix_shape[] = {64, 5};
  Header header;
  header.set("general.name", "two tensors");
  header.add_tensor("vector", DType::F32, vector_shape);
  header.add_tensor("matrix", DType::Q8_0, matrix_shape);
  const auto data = counting_bytes(12 + 5 * 2 * 34);
  const std::span all(data);

  auto writer = Writer::create(path, header);
  ASSERT_TRUE(writer) << to_string(writer.error());
  ASSERT_TRUE(writer->write(all.subspan(0, 5)));
  ASSERT_TRUE(writer->write(all.subspan(5, 7)));
  ASSERT_TRUE(writer->write(all.subspan(12)));
  EXPECT_FALSE(std::filesystem::exists(path));  // not before it is whole
  const auto status = writer->finish();
  ASSERT_TRUE(status) << to_string(status.error());

  const auto file = File::open(path);
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->tensors().size(), 2U);
  const Tensor* vector = file->find_tensor("vector");
  const Tensor* matrix = file->find_tensor("matrix");
  EXPECT_TRUE(std::ranges::equal(vector->bytes, all.first(12)));
  EXPECT_TRUE(std::ranges::equal(matrix->bytes, all.subspan(12)));
  EXPECT_THAT(matrix->shape, ElementsAre(64, 5));
  EXPECT_EQ(matrix->num_elements(), 320U);
  EXPECT_EQ(matrix->file_offset % 32, 0U);
  EXPECT_EQ(file->size_bytes() % 32, 0U);
}

TEST(Writer, AnUnfinishedFileLeavesNothingBehindAndTheOldOneAlone) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.gguf";
  std::ofstream(path) << "old";
  {
    const auto writer = Writer::create(path, Header());
    ASSERT_TRUE(writer) << to_string(writer.error());
  }
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
}

TEST(Writer, AFolderThatDoesNotExistIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "absent" / "model.gguf";
  const auto writer = Writer::create(path, Header());
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, Code::not_found);
  EXPECT_EQ(to_string(writer.error()),
            "cannot write model: " + path.string() + ": No such file or directory");
}

TEST(WriterDeathTest, BrokenRulesAreBugs) {
  const uint64_t odd[] = {33};
  const uint64_t zero[] = {32, 0};
  Header header;
  EXPECT_DEATH(header.add_tensor("t", DType::Q8_0, odd), "block_size");
  EXPECT_DEATH(header.add_tensor("t", DType::F32, zero), "dim > 0");
  EXPECT_DEATH(header.set("", true), "key");
}

// The writer of the golden files is a Python program: same metadata and tensors, same bytes.
TEST(Writer, AFileOfAnotherProgramIsRewrittenByteForByte) {
  const auto source = std::filesystem::path(EVENER_SHARED) / "golden" / "models" / "llama.gguf";
  if (!std::filesystem::exists(source)) GTEST_SKIP() << source << " is not on this machine";
  const TemporaryFolder folder;
  const auto path = folder.path() / "copy.gguf";
  const auto file = File::open(source);
  ASSERT_TRUE(file) << to_string(file.error());
  Header header;
  for (const auto& [key, value] : file->metadata()) header.set(key, value);
  for (const Tensor& tensor : file->tensors()) {
    header.add_tensor(tensor.name, tensor.dtype, tensor.shape);
  }
  auto writer = Writer::create(path, header);
  ASSERT_TRUE(writer) << to_string(writer.error());
  for (const Tensor& tensor : file->tensors()) ASSERT_TRUE(writer->write(tensor.bytes));
  ASSERT_TRUE(writer->finish());

  const auto copy = MappedFile::open(path);
  ASSERT_TRUE(copy);
  EXPECT_TRUE(std::ranges::equal(copy->bytes(), file->mappings()[0].bytes()));
}

}  // namespace
}  // namespace evener::gguf
