// A folder as one file or as shards with an index, and what the two can disagree about.
#include "safetensors/folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/temporary_folder.h"
#include "safetensors/raw_file.h"

namespace evener::safetensors {
namespace {

class FolderTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& bytes) const {
    std::ofstream(folder_.path() / file, std::ios::binary) << bytes;
  }

  // A shard of one tensor of one byte.
  void write_shard(const std::string& file, const std::string& tensor) const {
    write(file,
          raw_file(R"({")" + tensor + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
  }

  void write_index(const std::string& weight_map) const {
    write("model.safetensors.index.json", R"({"weight_map":)" + weight_map + "}");
  }

  // The message with FOLDER for the folder's path, or "" if it opens.
  std::string complaint() const {
    const auto opened = Folder::open(folder_.path());
    if (opened) return "";
    std::string text = to_string(opened.error());
    const std::string path = folder_.path().string();
    for (size_t at = text.find(path); at != std::string::npos; at = text.find(path)) {
      text.replace(at, path.size(), "FOLDER");
    }
    return text;
  }

  TemporaryFolder folder_;
};

constexpr const char* kTwo = R"({"a":"1.safetensors","b":"2.safetensors"})";

TEST_F(FolderTest, OfOneFileHasItsTensors) {
  write_shard("model.safetensors", "a");
  const auto folder = Folder::open(folder_.path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  ASSERT_EQ(folder->tensors().size(), 1U);
  EXPECT_EQ(folder->find("a"), folder->tensors().data());
  EXPECT_EQ(folder->find("b"), nullptr);
}

TEST_F(FolderTest, OfShardsHasAllTheirTensors) {
  write_index(kTwo);
  write_shard("1.safetensors", "a");
  write_shard("2.safetensors", "b");
  const auto folder = Folder::open(folder_.path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  ASSERT_EQ(folder->tensors().size(), 2U);
  EXPECT_EQ(folder->find("a")->file_index, 0U);
  EXPECT_EQ(folder->find("b")->file_index, 1U);
  EXPECT_EQ(folder->mappings().size(), 2U);
  EXPECT_EQ(folder->size_bytes(),
            folder->mappings()[0].bytes().size() + folder->mappings()[1].bytes().size());
}

TEST_F(FolderTest, WithoutWeightsSaysWhatIsMissing) {
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER: has neither model.safetensors nor "
            "model.safetensors.index.json\n"
            "  fetch all files of the model; PyTorch's .bin files are not read");
}

TEST_F(FolderTest, NamesAMissingShard) {
  write_index(kTwo);
  write_shard("1.safetensors", "a");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/2.safetensors: is named by the index and is missing\n"
            "  all shards must lie in one folder: fetch this one too");
}

TEST_F(FolderTest, NamesABrokenShard) {
  write_index(kTwo);
  write_shard("1.safetensors", "a");
  write("2.safetensors", "");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/2.safetensors: has 0 bytes, the length of its header alone "
            "takes 8\n  the file is cut short or damaged: fetch it again");
}

TEST_F(FolderTest, NamesATensorThatItsShardLacks) {
  write_index(R"({"a":"1.safetensors","c":"1.safetensors"})");
  write_shard("1.safetensors", "a");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/model.safetensors.index.json, tensor 'c': is said to be in "
            "1.safetensors, which does not have it\n"
            "  index and shards are of different models: fetch them again");
}

TEST_F(FolderTest, NamesATensorInAnotherShardThanSaid) {
  write_index(R"({"a":"2.safetensors","b":"1.safetensors"})");
  write_shard("1.safetensors", "a");
  write_shard("2.safetensors", "b");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/model.safetensors.index.json, tensor 'a': is said to be in "
            "2.safetensors, which does not have it\n"
            "  index and shards are of different models: fetch them again");
}

TEST_F(FolderTest, NamesATensorThatTheIndexLacks) {
  write_index(R"({"a":"1.safetensors"})");
  write("1.safetensors", raw_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                  R"("c":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                  2));
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/1.safetensors, tensor 'c': is not in the index\n"
            "  index and shards are of different models: fetch them again");
}

TEST_F(FolderTest, NamesATensorThatTwoShardsHave) {
  write_index(kTwo);
  write_shard("1.safetensors", "a");
  write_shard("2.safetensors", "a");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/2.safetensors, tensor 'a': is also in "
            "FOLDER/1.safetensors\n"
            "  the shards are of different models: fetch them again");
}

TEST_F(FolderTest, FollowsNoIndexOutOfItself) {
  for (const char* file : {"\"../1.safetensors\"", "\"/1.safetensors\"", "\"a/b.safetensors\"",
                           "\"1.bin\"", "\"\"", "3", "\"a\\u0000.safetensors\""}) {
    write_index(std::string(R"({"a":)") + file + "}");
    EXPECT_NE(complaint().find("field 'weight_map': tensor 'a' is said to be in "),
              std::string::npos)
        << complaint();
  }
}

TEST_F(FolderTest, ReadsNoIndexThatIsNoIndex) {
  write("model.safetensors.index.json", "{}");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/model.safetensors.index.json, field 'weight_map': is "
            "missing");
  write("model.safetensors.index.json", "[]");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/model.safetensors.index.json: is a list, not an object");
  write("model.safetensors.index.json",
        R"({"weight_map":{"a":"1.safetensors","a":"2.safetensors"}})");
  EXPECT_EQ(complaint(),
            "cannot load model: FOLDER/model.safetensors.index.json: names 'a' twice\n"
            "  the file is cut short or damaged: fetch it again");
}

TEST_F(FolderTest, HasALimitOfFiles) {
  write_index(kTwo);
  const auto opened = Folder::open(folder_.path(), {.files = 1});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::limit_exceeded);
  EXPECT_EQ(opened.error().why, "names more than 1 files");
}

TEST_F(FolderTest, IsAFolder) {
  write_shard("model.safetensors", "a");
  const auto opened = Folder::open(folder_.path() / "model.safetensors");
  EXPECT_FALSE(opened.has_value());
}

}  // namespace
}  // namespace evener::safetensors
