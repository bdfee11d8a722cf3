// The typed getters: what converts, what does not, and the messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "gguf/file.h"
#include "gguf/header.h"

namespace evener::gguf {
namespace {

using testing::ElementsAre;

class Values : public testing::Test {
 protected:
  Header header_;
  std::vector<std::byte> bytes_;

  File file() {
    bytes_ = header_.encode();
    auto parsed = File::parse(bytes_, "tiny.gguf");
    EXPECT_TRUE(parsed) << to_string(parsed.error());
    return *std::move(parsed);
  }
};

template <class T>
std::string message(const Result<T>& result) {
  return result ? "none" : to_string(result.error());
}

TEST_F(Values, IntegersOfAnyWidthAreIntegers) {
  header_.set("u8", uint8_t{7});
  header_.set("i64", int64_t{7});
  header_.set("negative", int16_t{-7});
  header_.set("large", std::numeric_limits<uint64_t>::max());
  const File all = file();
  EXPECT_EQ(all.get_uint("u8").value(), 7U);
  EXPECT_EQ(all.get_uint("i64").value(), 7U);
  EXPECT_EQ(all.get_int("u8").value(), 7);
  EXPECT_EQ(all.get_int("negative").value(), -7);
  EXPECT_EQ(message(all.get_uint("negative")),
            "cannot load model: tiny.gguf, key 'negative': is i16 -7, expected: integer >= 0");
  EXPECT_EQ(message(all.get_int("large")),
            "cannot load model: tiny.gguf, key 'large': is u64 18446744073709551615, expected: "
            "integer");
  EXPECT_EQ(message(all.get_uint("i64", 6)),
            "cannot load model: tiny.gguf, key 'i64': is i64 7, expected: integer from 0 to 6");
  EXPECT_FALSE(all.get_float("u8"));
  EXPECT_FALSE(all.get_bool("u8"));
}

TEST_F(Values, AnAbsentKeyIsAnErrorOrTheFallback) {
  const File all = file();
  EXPECT_FALSE(all.has("x"));
  EXPECT_EQ(message(all.get_uint("x")),
            "cannot load model: tiny.gguf, key 'x': is missing\n"
            "  the file is incomplete: fetch or convert the model again");
  EXPECT_EQ(all.get_uint("x").error().code, Code::corrupt);
  EXPECT_EQ(all.get_uint_or("x", 5).value(), 5U);
  EXPECT_EQ(all.get_int_or("x", -5).value(), -5);
  EXPECT_EQ(all.get_float_or("x", 0.5F).value(), 0.5F);
  EXPECT_TRUE(all.get_bool_or("x", true).value());
  EXPECT_EQ(all.get_string_or("x", "y").value(), "y");
  EXPECT_FALSE(all.get_strings("x"));
}

TEST_F(Values, AWrongKindIsAnErrorEvenWithAFallback) {
  header_.set("text", "3");
  const File all = file();
  EXPECT_EQ(message(all.get_uint_or("text", 5)),
            "cannot load model: tiny.gguf, key 'text': is string, expected: integer >= 0");
  EXPECT_FALSE(all.get_int_or("text", 5));
  EXPECT_FALSE(all.get_float_or("text", 5));
  EXPECT_FALSE(all.get_bool_or("text", true));
  header_.set("number", uint32_t{1});
  EXPECT_FALSE(file().get_string_or("number", ""));
}

TEST_F(Values, FloatsMustBeFinite) {
  header_.set("f32", 1e-6F);
  header_.set("f64", 0.25);
  header_.set("nan", std::numeric_limits<float>::quiet_NaN());
  header_.set("too large for f32", 1e300);
  header_.set_array("array", std::vector<float>{1.0F, std::numeric_limits<float>::infinity()});
  const File all = file();
  EXPECT_EQ(all.get_float("f32").value(), 1e-6F);
  EXPECT_EQ(all.get_float("f64").value(), 0.25F);
  EXPECT_EQ(message(all.get_float("nan")),
            "cannot load model: tiny.gguf, key 'nan': is f32 nan, expected: finite float");
  EXPECT_FALSE(all.get_float("too large for f32"));
  EXPECT_EQ(message(all.get_floats("array")),
            "cannot load model: tiny.gguf, key 'array': is array of f32, expected: array of finite "
            "float");
}

TEST_F(Values, ArraysConvertElementByElement) {
  header_.set_array("ids", std::vector<uint32_t>{1, 2, 3});
  header_.set_array("signed", std::vector<int32_t>{1, -2});
  header_.set_array("empty", std::vector<float>{});
  header_.set_array("words", std::vector<std::string_view>{"a"});
  const File all = file();
  EXPECT_THAT(all.get_uints("ids").value(), ElementsAre(1, 2, 3));
  EXPECT_THAT(all.get_ints("signed").value(), ElementsAre(1, -2));
  EXPECT_FALSE(all.get_uints("signed"));
  EXPECT_FALSE(all.get_uints("ids", 2));
  EXPECT_FALSE(all.get_strings("ids"));
  EXPECT_FALSE(all.get_floats("ids"));
  EXPECT_FALSE(all.get_bools("words"));
  EXPECT_FALSE(all.get_ints("words"));
  EXPECT_TRUE(all.get_strings("empty").value().empty());
  EXPECT_TRUE(all.get_ints("empty").value().empty());
}

TEST_F(Values, OneNumberForAllLayersOrOneALayer) {
  header_.set("one", uint32_t{4});
  header_.set_array("each", std::vector<uint32_t>{4, 0, 4});
  const File all = file();
  EXPECT_THAT(all.get_uints_each("one", 3).value(), ElementsAre(4, 4, 4));
  EXPECT_THAT(all.get_uints_each("each", 3).value(), ElementsAre(4, 0, 4));
  EXPECT_EQ(message(all.get_uints_each("each", 2)),
            "cannot load model: tiny.gguf, key 'each': has 3 values, expected: 2");
  EXPECT_FALSE(all.get_uints_each("one", 3, 3));
}

TEST_F(Values, TensorsAreFoundByName) {
  const uint64_t shape[] = {32};
  header_.add_tensor("b", DType::F32, shape);
  header_.add_tensor("a", DType::F32, shape);
  bytes_ = header_.encode();
  bytes_.resize(bytes_.size() + 256);
  const auto parsed = File::parse(bytes_, "tiny.gguf");
  ASSERT_TRUE(parsed) << message(parsed);
  EXPECT_EQ(parsed->find_tensor("a"), &parsed->tensors()[1]);
  EXPECT_EQ(parsed->get_tensor("b").value(), &parsed->tensors()[0]);
  EXPECT_EQ(parsed->find_tensor("c"), nullptr);
  EXPECT_EQ(message(parsed->get_tensor("c")),
            "cannot load model: tiny.gguf, tensor 'c': is missing\n"
            "  the file is incomplete: fetch or convert the model again");
  EXPECT_EQ(to_string(parsed->tensor_error(parsed->tensors()[0], "is [32], expected [64]")),
            "cannot load model: tiny.gguf, tensor 'b', offset 96: is [32], expected [64]");
}

TEST_F(Values, AFileCanBeMovedWhileItsViewsAreHeld) {
  header_.set("general.name", "short");
  File first = file();
  const std::string_view name = first.get_string("general.name").value();
  const File second = std::move(first);
  EXPECT_EQ(name, "short");
  EXPECT_EQ(second.get_string("general.name").value().data(), name.data());
}

}  // namespace
}  // namespace evener::gguf
