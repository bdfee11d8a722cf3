// Split files: any part opens the whole; a missing, foreign or renamed part is named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_folder.h"
#include "gguf/file.h"
#include "gguf/writer.h"

namespace evener::gguf {
namespace {

struct PartSpec {
  int index = 0;
  int count = 3;
  int num_tensors = 3;
  std::string tensor;
};

class Split : public testing::Test {
 protected:
  TemporaryFolder folder_;

  std::filesystem::path path(int index, int count = 3) const {
    return folder_.path() / fmt::format("model-{:05}-of-{:05}.gguf", index + 1, count);
  }

  static void write(const std::filesystem::path& path, const PartSpec& spec) {
    Header header;
    if (spec.index == 0) header.set("general.name", "joined");
    header.set("split.no", static_cast<uint16_t>(spec.index));
    header.set("split.count", static_cast<uint16_t>(spec.count));
    header.set("split.tensors.count", spec.num_tensors);
    const uint64_t shape[] = {8};
    header.add_tensor(spec.tensor, DType::F32, shape);
    auto writer = Writer::create(path, header);
    ASSERT_TRUE(writer) << to_string(writer.error());
    const std::vector<std::byte> data(32, static_cast<std::byte>(spec.index));
    ASSERT_TRUE(writer->write(data));
    ASSERT_TRUE(writer->finish());
  }

  void write_all() const {
    for (int i = 0; i < 3; ++i) {
      write(path(i), {.index = i, .tensor = fmt::format("t{}", i)});
    }
  }

  std::string error_of(int index) const {
    const auto file = File::open(path(index));
    return file ? "none" : to_string(file.error());
  }
};

TEST_F(Split, AnyPartOpensAll) {
  write_all();
  for (int i = 0; i < 3; ++i) {
    const auto file = File::open(path(i));
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->get_string("general.name").value(), "joined");
    EXPECT_EQ(file->name(), path(0).string());
    ASSERT_EQ(file->tensors().size(), 3U);
    EXPECT_EQ(file->mappings().size(), 3U);
    uint64_t size_bytes = 0;
    for (int part = 0; part < 3; ++part) {
      size_bytes += std::filesystem::file_size(path(part));
      const Tensor* tensor = file->find_tensor(fmt::format("t{}", part));
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(tensor->file_index, static_cast<size_t>(part));
      EXPECT_EQ(tensor->bytes[31], static_cast<std::byte>(part));
      EXPECT_EQ(file->names()[tensor->file_index], path(part).string());
    }
    EXPECT_EQ(file->size_bytes(), size_bytes);
  }
}

TEST_F(Split, AMissingPartIsNamed) {
  write_all();
  std::filesystem::remove(path(1));
  const auto file = File::open(path(2));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::not_found);
  EXPECT_EQ(to_string(file.error()), "cannot load model: " + path(1).string() +
                                         ": part 2 of 3 is missing\n"
                                         "  all parts must lie in one folder: fetch this one too");
}

TEST_F(Split, ABrokenPartIsNamed) {
  write_all();
  std::ofstream(path(1)) << "GGUF";
  EXPECT_EQ(error_of(0), "cannot load model: " + path(1).string() +
                             ", offset 4: version needs 4 bytes, 0 are left in the file\n"
                             "  the file is cut short or damaged: fetch it again");
}

TEST_F(Split, PartsOfTwoModelsDoNotMix) {
  write_all();
  write(path(1), {.index = 1, .num_tensors = 4, .tensor = "t1"});
  EXPECT_EQ(error_of(0), "cannot load model: " + path(1).string() +
                             ": says it is part 2 of 3 of a model of 4 tensors, "
                             "expected is part 2 of 3 of one of 3 tensors\n"
                             "  the parts are of different models: fetch them again");
  write(path(1), {.index = 2, .tensor = "t1"});
  EXPECT_THAT(error_of(0), testing::HasSubstr("says it is part 3 of 3"));
  write(path(1), {.index = 0, .count = 1, .tensor = "t1"});
  EXPECT_THAT(error_of(0), testing::HasSubstr("says it is a whole model"));
}

TEST_F(Split, ATensorInTwoPartsIsAnError) {
  write_all();
  write(path(2), {.index = 2, .tensor = "t0"});
  EXPECT_THAT(error_of(0), testing::HasSubstr(path(2).string() + ", tensor 't0', offset "));
  EXPECT_THAT(error_of(0), testing::HasSubstr(": is in " + path(0).string() + " too"));
}

TEST_F(Split, TheNumberOfTensorsMustAddUp) {
  for (int i = 0; i < 3; ++i) {
    write(path(i), {.index = i, .num_tensors = 5, .tensor = fmt::format("t{}", i)});
  }
  EXPECT_EQ(error_of(1), "cannot load model: " + path(0).string() +
                             ", key 'split.tensors.count': is 5, the parts hold 3 tensors\n"
                             "  the parts are of different models: fetch them again");
}

TEST_F(Split, ARenamedPartSaysWhichNameItNeeds) {
  const auto other = folder_.path() / "other.gguf";
  write(other, {.index = 1, .tensor = "t"});
  const auto file = File::open(other);
  ASSERT_FALSE(file);
  EXPECT_EQ(to_string(file.error()), "cannot load model: " + other.string() +
                                         ": is part 2 of 3 by its metadata, not by its name\n"
                                         "  name it as it was published: NAME-00002-of-00003.gguf");
}

TEST_F(Split, NumbersThatContradictEachOtherAreErrors) {
  write(path(0), {.index = 3, .tensor = "t"});
  EXPECT_EQ(error_of(0), "cannot load model: " + path(0).string() +
                             ", key 'split.no': is 3, but split.count is 3");
  write(path(0), {.count = 2000, .tensor = "t"});
  EXPECT_EQ(error_of(0), "cannot load model: " + path(0).string() +
                             ", key 'split.count': is 2000, at most 1024 is allowed");
}

TEST_F(Split, MissingOrWrongSplitKeysAreNamed) {
  Header header;
  header.set("split.count", uint16_t{2});
  const auto error_with = [&] {
    const auto bytes = header.encode();
    const auto file = File::parse(bytes, "x");
    return file ? "none" : to_string(file.error());
  };
  EXPECT_EQ(error_with(), "cannot load model: x, key 'split.no': is missing in a split file");
  header.set("split.no", "0");
  EXPECT_EQ(error_with(), "cannot load model: x, key 'split.no': is not an integer >= 0");
  header.set("split.no", uint16_t{1});
  header.set("split.tensors.count", int32_t{-1});
  EXPECT_EQ(error_with(),
            "cannot load model: x, key 'split.tensors.count': is not an integer >= 0");
  header.set("split.tensors.count", int32_t{1});
  EXPECT_EQ(error_with(), "cannot load model: x: is part 2 of 2: a part alone is no model");
}

TEST_F(Split, ASplitOfOneIsAWholeModelWhateverItsName) {
  const auto other = folder_.path() / "other.gguf";
  write(other, {.count = 1, .tensor = "t"});
  EXPECT_TRUE(File::open(other));
}

TEST(Open, AFileThatIsNotThereOrIsAFolder) {
  const TemporaryFolder folder;
  const auto absent = File::open(folder.path() / "absent.gguf");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::not_found);
  EXPECT_EQ(to_string(absent.error()), "cannot load model: " + folder.path().string() +
                                           "/absent.gguf: No such file or directory");
  const auto is_folder = File::open(folder.path());
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(to_string(is_folder.error()),
            "cannot load model: " + folder.path().string() + ": is a folder");
}

}  // namespace
}  // namespace evener::gguf
