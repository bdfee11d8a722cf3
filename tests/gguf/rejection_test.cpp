// Everything a file can get wrong, one file a mistake, with the whole message that a person reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gguf/file.h"
#include "gguf/raw_file.h"

namespace evener::gguf {
namespace {

using namespace std::literals;

constexpr uint64_t kHuge = ~uint64_t{0};
constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ8_0 = 8;

struct Case {
  std::string name;
  RawFile file;
  Code code;
  std::string message;  // behind "cannot load model: x.gguf"
};

void PrintTo(const Case& tried, std::ostream* out) { *out << tried.name; }

constexpr std::string_view kFetchAgain = "\n  the file is cut short or damaged: fetch it again";
constexpr std::string_view kConvert = "\n  convert it to GGUF, or fetch a GGUF of the model";
constexpr std::string_view kUnpack = "\n  unpack it first";
constexpr std::string_view kLater = "\n  the file may be made for a later version, or be damaged";

std::string again(std::string_view text) { return std::string(text).append(kFetchAgain); }

RawFile raw(std::string_view bytes) { return RawFile().raw(bytes); }

std::vector<Case> other_formats() {
  const std::string old = "\n  fetch a GGUF of the model: this format was given up in August 2023";
  const std::string page =
      ": is a web page, not a model"
      "\n  the download led to a page about the file: use the link of the file itself";
  const auto convert = [](std::string_view why) { return std::string(why).append(kConvert); };
  const auto unpack = [](std::string_view why) { return std::string(why).append(kUnpack); };
  return {
      {"Empty", raw(""), Code::corrupt, ": is empty\n  the download failed: fetch it again"},
      {"Zeros", raw("\0\0\0\0\0\0"sv), Code::corrupt,
       ": starts with zeros\n  the download is unfinished: fetch it again"},
      {"Zip", raw("PK\x03\x04rest"), Code::unsupported,
       convert(": is a zip archive (PyTorch checkpoints are), not GGUF")},
      {"Pickle", raw("\x80\x02}q"), Code::unsupported, convert(": is a Python pickle, not GGUF")},
      {"Safetensors", RawFile().u64(2).raw("{}"), Code::unsupported,
       convert(": is a safetensors file, not GGUF")},
      {"Gzip", raw("\x1f\x8b\x08"), Code::unsupported, unpack(": is compressed with gzip")},
      {"Zstd", raw("\x28\xb5\x2f\xfd"), Code::unsupported, unpack(": is compressed with zstd")},
      {"Xz",
       raw("\xfd"
           "7zXZ\0"sv),
       Code::unsupported, unpack(": is compressed with xz")},
      {"SevenZip", raw("7z\xbc\xaf\x27\x1c"), Code::unsupported, unpack(": is a 7z archive")},
      {"NumPy", raw("\x93NUMPY"), Code::unsupported, ": is a NumPy array, not GGUF"},
      {"Program",
       raw("\x7f"
           "ELF"),
       Code::unsupported, ": is a program, not GGUF"},
      {"Ggml", raw("lmgg"), Code::unsupported, ": is in the old GGML format" + old},
      {"Ggmf", raw("fmgg"), Code::unsupported, ": is in the old GGMF format" + old},
      {"Ggjt", raw("tjgg"), Code::unsupported, ": is in the old GGJT format" + old},
      {"GitLfsPointer", raw("version https://git-lfs.github.com/spec/v1\noid sha256:"),
       Code::unsupported,
       ": is a git-lfs pointer, not the file itself"
       "\n  fetch the file itself with 'git lfs pull' or from the model's page"},
      {"WebPage", raw("\n <!DOCTYPE html><html>"), Code::corrupt, page},
      {"WebPageWithoutDoctype", raw("<HTML lang=en>"), Code::corrupt, page},
      {"Rubbish", raw("rubbish"), Code::unsupported,
       ": is no GGUF file: it starts with 72 75 62 62, not with 47 47 55 46"},
      {"HalfTheMagic", raw("GG"), Code::unsupported,
       ": is no GGUF file: it starts with 47 47, not with 47 47 55 46"},
  };
}

std::vector<Case> versions() {
  return {
      {"VersionOne", raw("GGUF").u32(1), Code::unsupported,
       ", offset 4: is GGUF version 1, only 2 and 3 are read"
       "\n  convert the model again, or fetch a later GGUF of it"},
      {"VersionFour", raw("GGUF").u32(4), Code::unsupported,
       std::string(", offset 4: is GGUF version 4, only 2 and 3 are read").append(kLater)},
      {"VersionZero", raw("GGUF").u32(0), Code::unsupported,
       std::string(", offset 4: is GGUF version 0, only 2 and 3 are read").append(kLater)},
      {"BigEndian", raw("GGUF\0\0\0\3"sv), Code::unsupported,
       ", offset 4: is a big-endian GGUF file\n  fetch or make the little-endian one"},
      {"NoVersion", raw("GGUF\3"), Code::corrupt,
       again(", offset 4: version needs 4 bytes, 1 are left in the file")},
  };
}

std::vector<Case> counts() {
  return {
      {"NoTensorCount", raw("GGUF").u32(3).u32(0), Code::corrupt,
       again(", offset 8: tensor count needs 8 bytes, 4 are left in the file")},
      {"HugeTensorCount", RawFile().head(kHuge, 0), Code::corrupt,
       again(", offset 8: tensor count is 18446744073709551615, "
             "the 8 bytes left in the file hold at most 0")},
      {"HugeMetadataCount", RawFile().head(0, kHuge).data(40), Code::corrupt,
       again(", offset 16: metadata count is 18446744073709551615, "
             "the 48 bytes left in the file hold at most 3")},
      {"NoMetadata", RawFile().head(0, 2).u32_entry("a", 1), Code::corrupt,
       again(", offset 16: metadata count is 2, the 17 bytes left in the file hold at most 1")},
  };
}

std::vector<Case> entries() {
  const auto one = [] { return RawFile().head(0, 1); };
  return {
      {"EmptyKey", one().key("", 4).u32(1).data(0), Code::corrupt,
       again(", metadata entry 0, offset 24: key is empty")},
      {"HugeKey", one().u64(kHuge).raw("abcdefgh"), Code::corrupt,
       again(", metadata entry 0, offset 32: key needs 18446744073709551615 bytes, "
             "8 are left in the file")},
      {"LongKey", one().key(std::string(65536, 'k'), 0).u8(1), Code::limit_exceeded,
       ", metadata entry 0, offset 24: key has 65536 bytes, at most 65535 are allowed"},
      {"UnknownValueType", one().key("a", 13).data(8), Code::corrupt,
       again(", key 'a', offset 33: value type is 13, at most 12 exists")},
      {"KeyWithControlCharacters", one().key("a\n\x1b[2J", 13).data(8), Code::corrupt,
       again(", key 'a\\n\\x1b[2J', offset 38: value type is 13, at most 12 exists")},
      {"CutNumber", one().key("a", 10).u32(1), Code::corrupt,
       again(", key 'a', offset 37: value needs 8 bytes, 4 are left in the file")},
      {"WrongBool", one().key("a", 7).u8(2), Code::corrupt,
       again(", key 'a', offset 37: bool is 2, only 0 and 1 are allowed")},
      {"HugeString", one().key("a", 8).u64(kHuge - 3), Code::corrupt,
       again(", key 'a', offset 45: string needs 18446744073709551612 bytes, "
             "0 are left in the file")},
      {"DuplicateKey", RawFile().head(0, 3).u32_entry("b", 1).u32_entry("a", 1).u32_entry("b", 2),
       Code::corrupt, ", key 'b', offset 58: key occurs twice, first at offset 24"},
  };
}

RawFile nested(int depth) {
  RawFile file;
  file.head(0, 1).key("a", 9);
  for (int i = 1; i < depth; ++i) file.u32(9).u64(1);
  return file.u32(0).u64(1).u8(7);
}

std::vector<Case> arrays() {
  const auto one = [] { return RawFile().head(0, 1); };
  return {
      {"UnknownElementType", one().array("a", 99, 1).u8(0), Code::corrupt,
       again(", key 'a', offset 37: element type is 99, at most 12 exists")},
      {"HugeNumberArray", one().array("a", 10, kHuge / 8 + 2).u64(0), Code::corrupt,
       again(", key 'a', offset 41: array length is 2305843009213693953, "
             "the 8 bytes left in the file hold at most 1")},
      {"HugeStringArray", one().array("a", 8, kHuge).text("x"), Code::corrupt,
       again(", key 'a', offset 41: array length is 18446744073709551615, "
             "the 9 bytes left in the file hold at most 1")},
      {"HugeArrayOfArrays", one().array("a", 9, kHuge).data(20), Code::corrupt,
       again(", key 'a', offset 41: array length is 18446744073709551615, "
             "the 35 bytes left in the file hold at most 2")},
      {"StringArrayThatEnds", one().array("a", 8, 2).text("").u64(5).raw("four"), Code::corrupt,
       again(", key 'a', offset 65: array string needs 5 bytes, 4 are left in the file")},
      {"WrongBoolInArray", one().array("a", 7, 3).u8(1).u8(0).u8(255), Code::corrupt,
       again(", key 'a', offset 51: bool is 255, only 0 and 1 are allowed")},
      {"DeepArrays", nested(5), Code::limit_exceeded,
       ", key 'a', offset 85: arrays are nested more than 4 deep"},
  };
}

std::vector<Case> alignments() {
  const auto allowed = "only powers of two from 8 to 1073741824 are allowed"s;
  const auto with = [&](std::string_view shown) {
    return again(", key 'general.alignment': is "s.append(shown) + ", " + allowed);
  };
  const auto one = [](uint32_t value) {
    return RawFile().head(0, 1).u32_entry("general.alignment", value);
  };
  return {
      {"AlignmentZero", one(0), Code::corrupt, with("0")},
      {"AlignmentOdd", one(48), Code::corrupt, with("48")},
      {"AlignmentTooSmall", one(4), Code::corrupt, with("4")},
      {"AlignmentHuge", RawFile().head(0, 1).key("general.alignment", 10).u64(uint64_t{1} << 63),
       Code::corrupt, with("9223372036854775808")},
      {"AlignmentAsText", RawFile().head(0, 1).key("general.alignment", 8).text("32"),
       Code::corrupt, with("of type string")},
  };
}

std::vector<Case> shapes() {
  const auto one = [] { return RawFile().head(1, 0); };
  const auto dims = [&](std::vector<uint64_t> shape, uint32_t type) {
    RawFile file = one().text("t").u32(static_cast<uint32_t>(shape.size()));
    for (const uint64_t dim : shape) file.u64(dim);
    return file.u32(type).u64(0).data(64);
  };
  return {
      {"EmptyName", one().tensor("", 1, 1, kF32, 0).data(4), Code::corrupt,
       again(", tensor 0, offset 24: name is empty")},
      {"LongName", one().tensor(std::string(256, 'n'), 1, 1, kF32, 0).data(4), Code::limit_exceeded,
       ", tensor 0, offset 24: name has 256 bytes, at most 255 are allowed"},
      {"NoDimensions", dims({}, kF32), Code::corrupt,
       again(", tensor 't', offset 33: has 0 dimensions, 1 to 4 are allowed")},
      {"FiveDimensions", dims({1, 1, 1, 1, 1}, kF32), Code::corrupt,
       again(", tensor 't', offset 33: has 5 dimensions, 1 to 4 are allowed")},
      {"DimensionZero", dims({4, 0}, kF32), Code::corrupt,
       again(", tensor 't', offset 45: dimension is 0")},
      {"ShapeOverflows", dims({uint64_t{1} << 32, uint64_t{1} << 32}, kF32), Code::corrupt,
       again(", tensor 't', offset 24: shape [4294967296, 4294967296] is too large to count")},
      {"ShapeOverflowsInBytes", dims({uint64_t{1} << 62}, kF32), Code::corrupt,
       again(", tensor 't', offset 24: shape [4611686018427387904] is too large to count")},
      {"RowsOfHalfBlocks", dims({48, 2}, kQ8_0), Code::corrupt,
       ", tensor 't', offset 24: shape [48, 2] has rows of 48 values, Q8_0 needs a multiple of 32"},
      {"UnknownType", dims({32}, 77), Code::unsupported,
       std::string(", tensor 't', offset 45: type 77 is unknown").append(kLater)},
      {"RetiredType", dims({32}, 31), Code::unsupported,
       ", tensor 't', offset 45: type 31 was given up by ggml"
       "\n  fetch or make a file with another quantisation"},
  };
}

std::vector<Case> data() {
  const auto two = [](uint64_t second_offset) {
    return RawFile().head(2, 0).tensor("a", 32, 1, kF32, 0).tensor("b", 8, 1, kF32, second_offset);
  };
  return {
      {"DataOffsetUnaligned", two(136).data(256), Code::corrupt,
       again(", tensor 'b', offset 98: data offset 136 is not a multiple of the alignment, 32")},
      {"DataOffsetOverflows", two(kHuge - 31).data(256), Code::corrupt,
       again(", tensor 'b', offset 65: data offset 18446744073709551584 is too large")},
      {"DataPastTheEnd", two(128).data(128), Code::corrupt,
       ", tensor 'b', offset 65: ends at byte 288, the file has 256"
       "\n  the download is cut short: fetch the file again"},
      {"DataMissing", RawFile().head(1, 0).tensor("a", 8, 1, kF32, 0), Code::corrupt,
       ", tensor 'a', offset 24: ends at byte 128, the file has 65"
       "\n  the download is cut short: fetch the file again"},
      {"DataOverlaps", two(96).data(256), Code::corrupt,
       again(", tensor 'b', offset 65: data starts at byte 224, inside tensor 'a' that ends at "
             "256")},
      {"DataTheSame", two(0).data(256), Code::corrupt,
       again(", tensor 'b', offset 65: data starts at byte 128, inside tensor 'a' that ends at "
             "256")},
      {"DuplicateTensor",
       RawFile().head(2, 0).tensor("a", 8, 1, kF32, 0).tensor("a", 8, 1, kF32, 32).data(64),
       Code::corrupt, ", tensor 'a', offset 65: name occurs twice, first at offset 24"},
  };
}

class Rejection : public testing::TestWithParam<Case> {};

TEST_P(Rejection, SaysWhatIsWrongAndWhere) {
  const Case& tried = GetParam();
  const auto file = File::parse(tried.file.bytes(), "x.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, tried.code);
  EXPECT_EQ(to_string(file.error()), "cannot load model: x.gguf" + tried.message);
}

std::string case_name(const testing::TestParamInfo<Case>& tried) { return tried.param.name; }

INSTANTIATE_TEST_SUITE_P(OtherFormats, Rejection, testing::ValuesIn(other_formats()), case_name);
INSTANTIATE_TEST_SUITE_P(Versions, Rejection, testing::ValuesIn(versions()), case_name);
INSTANTIATE_TEST_SUITE_P(Counts, Rejection, testing::ValuesIn(counts()), case_name);
INSTANTIATE_TEST_SUITE_P(Entries, Rejection, testing::ValuesIn(entries()), case_name);
INSTANTIATE_TEST_SUITE_P(Arrays, Rejection, testing::ValuesIn(arrays()), case_name);
INSTANTIATE_TEST_SUITE_P(Alignments, Rejection, testing::ValuesIn(alignments()), case_name);
INSTANTIATE_TEST_SUITE_P(Shapes, Rejection, testing::ValuesIn(shapes()), case_name);
INSTANTIATE_TEST_SUITE_P(Data, Rejection, testing::ValuesIn(data()), case_name);

// Limits bind even where the file has all the bytes it promises.
TEST(Limits, BindWhereTheFileIsLargeEnough) {
  const RawFile file = RawFile()
                           .head(1, 3)
                           .key("s", 8)
                           .text("12345")
                           .array("n", 0, 4)
                           .raw("abcd")
                           .array("m", 8, 2)
                           .text("x")
                           .text("y")
                           .tensor("t", 8, 1, kF32, 0)
                           .data(32);
  const auto refusal = [&](const Limits& limits) -> std::string {
    const auto parsed = File::parse(file.bytes(), "x", {.limits = limits});
    if (parsed) return "none";
    EXPECT_EQ(parsed.error().code, Code::limit_exceeded);
    return parsed.error().why;
  };
  EXPECT_EQ(refusal({}), "none");
  EXPECT_EQ(refusal({.metadata_entries = 2}), "metadata count is 3, at most 2 is allowed");
  EXPECT_EQ(refusal({.tensors = 0}), "tensor count is 1, at most 0 is allowed");
  EXPECT_EQ(refusal({.string_bytes = 4}), "string has 5 bytes, at most 4 are allowed");
  EXPECT_EQ(refusal({.array_elements = 6}), "none");
  EXPECT_EQ(refusal({.array_elements = 5}), "array length is 2, at most 1 is allowed");
  EXPECT_EQ(refusal({.array_depth = 0}), "arrays are nested more than 0 deep");
}

// What looks odd but is allowed.
TEST(Acceptance, OfFilesThatAreUnusualButValid) {
  const RawFile empty = RawFile().head(0, 0);
  EXPECT_TRUE(File::parse(empty.bytes(), "x"));
  const RawFile version_two = RawFile().raw("GGUF").u32(2).u64(0).u64(1).u32_entry("a", 1);
  EXPECT_EQ(File::parse(version_two.bytes(), "x").value().version(), 2U);
  const RawFile deepest = nested(4);
  EXPECT_TRUE(File::parse(deepest.bytes(), "x"));
  const RawFile backwards = RawFile()
                                .head(2, 0)
                                .tensor("b", 8, 1, kF32, 32)
                                .tensor("a", 8, 1, kF32, 0)
                                .data(64 + 5);  // and bytes behind
  const auto file = File::parse(backwards.bytes(), "x");
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->tensors()[0].file_offset, file->tensors()[1].file_offset + 32);
  const RawFile wide = RawFile()
                           .head(1, 1)
                           .u32_entry("general.alignment", 256)
                           .tensor("a", 8, 1, kF32, 256)
                           .data(1024);
  const auto aligned = File::parse(wide.bytes(), "x");
  ASSERT_TRUE(aligned) << to_string(aligned.error());
  EXPECT_EQ(aligned->alignment(), 256U);
  EXPECT_EQ(aligned->tensors()[0].file_offset, 512U);
}

}  // namespace
}  // namespace evener::gguf
