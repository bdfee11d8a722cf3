#include "bench/store/events_blob.h"

#include <gtest/gtest.h>

#include <limits>

#include "bench/figures/make_record.h"

namespace evener::bench {
namespace {

std::vector<OutputEvent> some_events() {
  return {{.at = at_ms(120), .num_tokens = 1, .num_bytes = 4, .channel = Channel::reasoning},
          {.at = at_ms(120), .num_tokens = 0, .num_bytes = 300, .channel = Channel::content},
          {.at = at_ms(-5000),
           .num_tokens = std::numeric_limits<uint32_t>::max(),
           .num_bytes = 0,
           .channel = Channel::tool},
          {.at = kTimeMax, .num_tokens = 2, .num_bytes = 1, .channel = Channel::content}};
}

TEST(EventsBlob, GivesBackTheEvents) {
  for (const Nanoseconds sent : {Nanoseconds(0), at_ms(100), kTimeMax, -kTimeMax}) {
    const auto decoded = decode_events(encode_events(some_events(), sent), sent, "here");
    ASSERT_TRUE(decoded) << to_string(decoded.error());
    EXPECT_EQ(*decoded, some_events());
  }
  EXPECT_TRUE(decode_events(encode_events({}, at_ms(1)), at_ms(1), "here")->empty());
}

// The bytes are what other programs read: they must not change under version 1.
TEST(EventsBlob, IsLaidOutAsDescribed) {
  const std::vector<OutputEvent> events = {
      {.at = Nanoseconds(100), .num_tokens = 1, .num_bytes = 4, .channel = Channel::content},
      {.at = Nanoseconds(99), .num_tokens = 0, .num_bytes = 128, .channel = Channel::tool}};
  EXPECT_EQ(encode_events(events, Nanoseconds(0)),
            std::string("\x01"
                        "\xc8\x01\x01\x04\x01"   // zigzag(100) = 200
                        "\x01\x00\x80\x01\x02",  // zigzag(-1) = 1
                        11));
}

TEST(EventsBlob, RefusesEveryCut) {
  const std::string blob = encode_events(some_events(), at_ms(0));
  int num_whole = 0;
  for (size_t size = 0; size < blob.size(); ++size) {
    if (decode_events(std::string_view(blob).substr(0, size), at_ms(0), "here")) ++num_whole;
  }
  EXPECT_EQ(num_whole, 4) << "only between two events is a cut one of another list";
}

TEST(EventsBlob, RefusesWhatNoWriterMakes) {
  const auto is_refused = [](std::string_view blob) {
    return !decode_events(blob, Nanoseconds(0), "here");
  };
  EXPECT_TRUE(is_refused(""));
  EXPECT_TRUE(is_refused("\x02"));
  EXPECT_TRUE(is_refused(std::string_view("\x01\x00\x01\x01\x03", 5))) << "no such channel";
  EXPECT_TRUE(is_refused("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01\x01"))
      << "a time beyond the range";
  EXPECT_TRUE(is_refused("\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x01\x01\x01"))
      << "more than 64 bits: cut, it would be a time of 0";
  EXPECT_TRUE(is_refused("\x01\x02\xff\xff\xff\xff\x10\x01\x01")) << "more than 32 bits";
}

}  // namespace
}  // namespace evener::bench
