#include "bench/client/response_parser.h"

#include <gtest/gtest.h>

#include <vector>

namespace evener::bench {
namespace {

using State = ResponseParser::State;

struct Seen {
  State state = State::head;
  std::string body;
  int status = 0;
  std::string type;
  bool keeps_alive = false;
};

Seen parse(const std::vector<std::string_view>& pieces, bool at_end = false) {
  ResponseParser parser;
  Seen seen;
  const auto take = [&](std::string_view bytes) {
    EXPECT_NE(parser.head().status, 0) << "the body came before the head";
    seen.body += bytes;
    return true;
  };
  for (const std::string_view piece : pieces) parser.feed(piece, take);
  seen.state = at_end ? parser.end() : parser.state();
  seen.status = parser.head().status;
  seen.type = parser.head().content_type;
  seen.keeps_alive = seen.state == State::complete && parser.keeps_alive();
  return seen;
}

const std::string kChunked =
    "HTTP/1.1 100 Continue\r\n\r\n"
    "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n"
    "transfer-encoding: chunked\r\n\r\n"
    "5\r\nhello\r\n1;x=y\r\n,\r\n006\r\n world\r\n0\r\nTrailer: x\r\n\r\n";

TEST(ResponseParser, AChunkedAnswerIsTheSameWhereverItIsSplit) {
  for (size_t i = 0; i <= kChunked.size(); ++i) {
    const std::string_view text = kChunked;
    const Seen seen = parse({text.substr(0, i), text.substr(i)});
    EXPECT_EQ(seen.state, State::complete) << i;
    EXPECT_EQ(seen.body, "hello, world") << i;
    EXPECT_EQ(seen.status, 200) << i;
    EXPECT_EQ(seen.type, "text/event-stream") << i;
    EXPECT_TRUE(seen.keeps_alive) << i;
  }
  std::vector<std::string_view> bytes;
  for (size_t i = 0; i < kChunked.size(); ++i) {
    bytes.push_back(std::string_view(kChunked).substr(i, 1));
  }
  EXPECT_EQ(parse(bytes).body, "hello, world");
}

TEST(ResponseParser, ALengthEndsTheBodyAndWhatFollowsEndsTheConnection) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  EXPECT_EQ(parse({answer}).state, State::complete);
  EXPECT_TRUE(parse({answer}).keeps_alive);
  EXPECT_EQ(parse({answer + "surplus"}).body, "ok");
  EXPECT_FALSE(parse({answer + "surplus"}).keeps_alive);
  EXPECT_FALSE(parse({answer, "surplus"}).keeps_alive);
  EXPECT_EQ(parse({answer.substr(0, answer.size() - 1)}, true).state, State::failed);
}

TEST(ResponseParser, WithoutALengthTheConnectionEndsTheBody) {
  const std::string_view answer = "HTTP/1.0 200 OK\r\n\r\nall of it";
  EXPECT_EQ(parse({answer}).state, State::body);
  const Seen seen = parse({answer}, true);
  EXPECT_EQ(seen.state, State::complete);
  EXPECT_EQ(seen.body, "all of it");
  EXPECT_FALSE(seen.keeps_alive);
}

TEST(ResponseParser, AnEndInsideChunksOrTheHeadIsNone) {
  EXPECT_EQ(parse({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"}, true).state,
            State::failed);
  EXPECT_EQ(parse({"HTTP/1.1 200 OK\r\nConte"}, true).state, State::failed);
  EXPECT_EQ(parse({}, true).state, State::failed);
}

TEST(ResponseParser, WhatIsNoHttpIsNamed) {
  for (const std::string_view text :
       {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "\r\n\r\n\r\n\r\n"}) {
    ResponseParser parser;
    EXPECT_EQ(parser.feed(text, [](std::string_view) { return true; }), State::failed) << text;
    EXPECT_TRUE(parser.why().starts_with("it is no HTTP answer (")) << parser.why();
  }
  ResponseParser parser;
  const std::string line = "X: " + std::string(1000, 'x') + "\r\n";
  parser.feed("HTTP/1.1 200 OK\r\n", [](std::string_view) { return true; });
  State state = State::head;
  for (int i = 0; i < 100 && state == State::head; ++i) {
    state = parser.feed(line, [](std::string_view) { return true; });
  }
  EXPECT_EQ(state, State::failed);
}

TEST(ResponseParser, ALineBeforeAChunkHasALimit) {
  ResponseParser parser;
  const auto take = [](std::string_view) { return true; };
  parser.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", take);
  const std::string kib(1024, 'x');
  size_t num_kib = 0;
  while (parser.feed(kib, take) == State::body && num_kib < 1000) ++num_kib;
  EXPECT_EQ(parser.state(), State::failed);
  EXPECT_LE(num_kib, ResponseParser::kHeadBytesMax / 1024);
}

TEST(ResponseParser, WhoWantsNoMoreHearsNothingOfWhatIsWrongBehindIt) {
  ResponseParser parser;
  const auto state =
      parser.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n",
                  [](std::string_view) { return false; });
  EXPECT_EQ(state, State::stopped);
}

TEST(ResponseParser, WhoWantsNoMoreOfABodyHearsNoMore) {
  ResponseParser parser;
  int num_pieces = 0;
  EXPECT_EQ(parser.feed(kChunked, [&](std::string_view) { return ++num_pieces < 2; }),
            State::stopped);
  EXPECT_EQ(num_pieces, 2);
}

}  // namespace
}  // namespace evener::bench
