// What a header may say and everything that it can get wrong, one file a mistake, with the whole
// message that a person reads.
#include "safetensors/header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "safetensors/raw_file.h"

namespace evener::safetensors {
namespace {

using testing::ElementsAre;

constexpr const char* kFetchAgain = "\n  the file is cut short or damaged: fetch it again";

// The whole message behind "cannot load model: x", or "" for a file that is read.
std::string complaint(const std::string& file, const Limits& limits = {}) {
  const auto tensors = read_header(bytes_of(file), "x", limits);
  return tensors ? ""
                 : to_string(tensors.error()).substr(std::string("cannot load model: x").size());
}

std::string complaint_about(std::string_view header, size_t data_bytes) {
  return complaint(raw_file(header, data_bytes));
}

std::string again(std::string_view text) { return std::string(text) + kFetchAgain; }

TEST(Header, TensorsComeInTheOrderOfTheirBytes) {
  const std::string file = raw_file(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[6,14]},)"
      R"("b":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]}}   )",
      14);
  const auto tensors = read_header(bytes_of(file), "x");
  ASSERT_TRUE(tensors.has_value()) << to_string(tensors.error());
  ASSERT_EQ(tensors->size(), 2U);
  EXPECT_EQ((*tensors)[0].name, "b");
  EXPECT_EQ((*tensors)[0].element, Element::BF16);
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(3, 1));
  EXPECT_EQ((*tensors)[0].bytes.size(), 6U);
  EXPECT_EQ((*tensors)[0].bytes[0], std::byte{0});
  EXPECT_EQ((*tensors)[1].name, "a");
  EXPECT_EQ((*tensors)[1].bytes[0], std::byte{6});
  EXPECT_EQ((*tensors)[1].num_elements(), 2U);
}

TEST(Header, NumbersAloneAndEmptyTensorsAreTensors) {
  const std::string file = raw_file(R"({"one":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                                    R"("none":{"dtype":"F16","shape":[0,7],"data_offsets":[8,8]}})",
                                    8);
  const auto tensors = read_header(bytes_of(file), "x");
  ASSERT_TRUE(tensors.has_value()) << to_string(tensors.error());
  EXPECT_EQ((*tensors)[0].num_elements(), 1U);
  EXPECT_EQ((*tensors)[1].num_elements(), 0U);
}

TEST(Header, OfNoTensorsIsAFileWithoutData) {
  EXPECT_EQ(complaint_about("{}", 0), "");
  EXPECT_EQ(complaint_about("{}", 1),
            again(": its tensors end at byte 0 of the data, which has 1"));
}

TEST(Header, MustFitTheFile) {
  EXPECT_EQ(complaint(""), again(": has 0 bytes, the length of its header alone takes 8"));
  EXPECT_EQ(complaint("1234567"), again(": has 7 bytes, the length of its header alone takes 8"));
  EXPECT_EQ(complaint(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
            again(": says its header has 3 bytes, 2 are left in the file"));
  EXPECT_EQ(complaint(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            again(": says its header has 18446744073709551615 bytes, 2 are left in the file"));
  EXPECT_EQ(complaint(raw_file("{}        ", 0), {.header_bytes = 9}),
            ": has a header of 10 bytes, at most 9 are read");
}

TEST(Header, AGitLfsPointerIsNamed) {
  EXPECT_EQ(complaint("version https://git-lfs.github.com/spec/v1\noid sha256:00"),
            ": is a git-lfs pointer, not the file itself\n  fetch the file itself with 'git lfs "
            "pull' or from the model's page");
}

TEST(Header, MustBeOneJsonObject) {
  const std::string no_json =
      ": is no safetensors file: its header is not JSON\n  fetch the model's .safetensors files";
  EXPECT_EQ(complaint_about("", 0), no_json);
  EXPECT_EQ(complaint_about(" {}", 0), no_json);
  EXPECT_EQ(complaint_about("[]", 0), no_json);
  EXPECT_EQ(complaint_about("{", 0), again(", header: is not valid JSON at byte 1"));
  EXPECT_EQ(complaint_about("{}{}", 0), again(", header: is not valid JSON at byte 2"));
  EXPECT_EQ(complaint_about("{\"\xff\":1}", 0), again(", header: is not valid JSON at byte 2"));
  EXPECT_EQ(complaint_about(R"({"a":[[[[0]]]]})", 0), ", header: is nested deeper than 4 levels");
}

TEST(Header, NamesAreUnique) {
  constexpr const char* kEntry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_EQ(complaint_about(std::string("{") + kEntry + "}", 1), "");
  EXPECT_EQ(complaint_about(std::string("{") + kEntry + "," + kEntry + "}", 1),
            again(", header: names 'a' twice"));
  EXPECT_EQ(
      complaint_about(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1),
      again(", header: names 'dtype' twice"));
}

struct WrongEntry {
  const char* name;
  const char* entry;  // of tensor "t", over 8 bytes of data
  const char* message;
};

class WrongEntries : public testing::TestWithParam<WrongEntry> {};

TEST_P(WrongEntries, AreNamed) {
  const std::string header = std::string(R"({"t":)") + GetParam().entry + "}";
  const std::string text = complaint_about(header, 8);
  EXPECT_EQ(text.substr(0, text.find("\n  ")), std::string(", tensor 't'") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongEntries,
    testing::Values(
        WrongEntry{"NoObject", "3", ": is a number, not an object"},
        WrongEntry{"NoType", R"({"shape":[8],"data_offsets":[0,8]})",
                   ", field 'dtype': is missing"},
        WrongEntry{"TypeIsNumber", R"({"dtype":3,"shape":[8],"data_offsets":[0,8]})",
                   ", field 'dtype': is a number, not a text"},
        WrongEntry{"UnknownType", R"({"dtype":"Q9\n","shape":[8],"data_offsets":[0,8]})",
                   ": has type 'Q9\\n', which Evener does not know"},
        WrongEntry{"NoShape", R"({"dtype":"U8","data_offsets":[0,8]})",
                   ", field 'shape': is missing"},
        WrongEntry{"ShapeIsNumber", R"({"dtype":"U8","shape":8,"data_offsets":[0,8]})",
                   ", field 'shape': is a number, not a list of numbers"},
        WrongEntry{"NegativeDimension", R"({"dtype":"U8","shape":[-8],"data_offsets":[0,8]})",
                   ", field 'shape': is a number, not a whole number from 0 on"},
        WrongEntry{"BrokenDimension", R"({"dtype":"U8","shape":[8.0],"data_offsets":[0,8]})",
                   ", field 'shape': is a number, not a whole number from 0 on"},
        WrongEntry{"HugeDimension",
                   R"({"dtype":"U8","shape":[99999999999999999999],)"
                   R"("data_offsets":[0,8]})",
                   ", field 'shape': is a number, not a whole number from 0 on"},
        WrongEntry{"ManyDimensions",
                   R"({"dtype":"U8","shape":[1,1,1,1,1,1,1,1,8],)"
                   R"("data_offsets":[0,8]})",
                   ": has 9 dimensions, at most 8 are allowed"},
        WrongEntry{"TooLarge",
                   R"({"dtype":"F32","shape":[4294967296,4294967296],)"
                   R"("data_offsets":[0,8]})",
                   ": shape [4294967296, 4294967296] is too large to count"},
        WrongEntry{"TooLargeBehindZero",
                   R"({"dtype":"F32","shape":[0,4294967296,4294967296],)"
                   R"("data_offsets":[0,0]})",
                   ": shape [0, 4294967296, 4294967296] is too large to count"},
        WrongEntry{"NoOffsets", R"({"dtype":"U8","shape":[8]})",
                   ", field 'data_offsets': is missing"},
        WrongEntry{"OneOffset", R"({"dtype":"U8","shape":[8],"data_offsets":[8]})",
                   ", field 'data_offsets': is not two numbers"},
        WrongEntry{"ThreeOffsets", R"({"dtype":"U8","shape":[8],"data_offsets":[0,8,8]})",
                   ", field 'data_offsets': is not two numbers"},
        WrongEntry{"Backwards", R"({"dtype":"U8","shape":[8],"data_offsets":[8,0]})",
                   ", field 'data_offsets': ends at 0, before 8"},
        WrongEntry{"BehindTheFile", R"({"dtype":"U8","shape":[9],"data_offsets":[0,9]})",
                   ", field 'data_offsets': ends at byte 9 of the data, which has 8"},
        WrongEntry{"FarBehindTheFile",
                   R"({"dtype":"U8","shape":[8],"data_offsets":)"
                   R"([18446744073709551607,18446744073709551615]})",
                   ", field 'data_offsets': ends at byte 18446744073709551615 of the data, which "
                   "has 8"},
        WrongEntry{"ShorterThanItsShape", R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})",
                   ": has 8 bytes, [3] numbers of type F32 take 12"},
        WrongEntry{"LongerThanItsShape", R"({"dtype":"F8_E4M3","shape":[7],"data_offsets":[0,8]})",
                   ": has 8 bytes, [7] numbers of type F8_E4M3 take 7"},
        WrongEntry{"GapBefore", R"({"dtype":"U8","shape":[7],"data_offsets":[1,8]})",
                   ": its data begin at byte 1, those before end at 0"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Header, TensorsDoNotOverlap) {
  EXPECT_EQ(complaint_about(R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
                            R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
                            8),
            again(", tensor 'b': its data begin at byte 4, those before end at 5"));
}

TEST(Header, HasLimits) {
  const std::string two = raw_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                   R"("bb":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                   2);
  EXPECT_EQ(complaint(two), "");
  EXPECT_EQ(complaint(two, {.tensors = 1}), ": has 2 tensors, at most 1 are read");
  EXPECT_EQ(complaint(two, {.name_bytes = 1}),
            ", tensor 'bb': its name has 2 bytes, 1 to 1 are allowed");
}

// Every single corrupted byte of a header gives tensors or a message, never a crash.
TEST(Header, SurvivesAnyOneWrongByte) {
  const std::string good = raw_file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  size_t num_refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    for (const int value : {0, 0x22, 0x30, 0x39, 0x7b, 0xff}) {
      bytes[i] = static_cast<char>(value);
      num_refused += read_header(bytes_of(bytes), "x").has_value() ? 0 : 1;
    }
  }
  EXPECT_GT(num_refused, good.size());
}

}  // namespace
}  // namespace evener::safetensors
