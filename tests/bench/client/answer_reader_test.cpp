#include "bench/client/answer_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

// The data of each event of a stream, read at 1 ns, 2 ns, ...
RequestRecord read(const std::vector<std::string_view>& events) {
  RequestRecord record;
  AnswerReader reader(record, true);
  Nanoseconds at{0};
  for (const std::string_view data : events) {
    at += 1ns;
    if (!reader.take_event({.type = {}, .data = data}, at,
                           [](const OutputEvent&, std::string_view) {})) {
      break;
    }
  }
  reader.settle_finish();
  reader.settle_text();
  return record;
}

RequestRecord read_whole(std::string_view body) {
  RequestRecord record;
  AnswerReader reader(record, true);
  reader.take_whole(body);
  reader.settle_finish();
  reader.settle_text();
  return record;
}

uint64_t hash(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

std::vector<uint32_t> tokens(const RequestRecord& record) {
  std::vector<uint32_t> out;
  for (const OutputEvent& event : record.events) out.push_back(event.num_tokens);
  return out;
}

TEST(AnswerReader, ChannelsAreToldApartAndEmptyEventsAreNone) {
  const RequestRecord record = read({
      R"({"choices":[{"delta":{"role":"assistant","content":null}}]})",
      R"({"choices":[{"delta":{"reasoning_content":"let"}}]})",
      R"({"choices":[{"delta":{"reasoning":" me"}}]})",
      R"({"choices":[{"delta":{"content":"yes"}}]})",
      R"({"choices":[{"text":"!"}]})",
      R"({"choices":[]})",
      R"({"choices":[{"delta":{},"finish_reason":"stop"}]})",
      "[DONE]",
  });
  using enum Channel;
  EXPECT_EQ(record.events, (std::vector<OutputEvent>{{2ns, 0, 3, reasoning},
                                                     {3ns, 0, 3, reasoning},
                                                     {4ns, 0, 3, content},
                                                     {5ns, 0, 1, content}}));
  EXPECT_EQ(record.num_empty_events, 3U);
  EXPECT_EQ(record.text, "yes!");
  EXPECT_EQ(record.output_hash, hash("let meyes!"));
  EXPECT_TRUE(record.done_seen);
  EXPECT_EQ(record.finish, Finish::stop);
  EXPECT_EQ(record.fault, std::nullopt);
}

TEST(AnswerReader, AChunkOfTwoChannelsIsTwoEventsThatShareItsTokens) {
  const RequestRecord record = read({
      R"({"choices":[{"delta":{"reasoning_content":"a","content":"b"},"token_ids":[1,2,3]}]})",
      "[DONE]",
  });
  using enum Channel;
  EXPECT_EQ(record.events,
            (std::vector<OutputEvent>{{1ns, 2, 1, reasoning}, {1ns, 1, 1, content}}));
}

TEST(AnswerReader, ToolCallsArePutTogetherByTheirIndex) {
  const RequestRecord record = read({
      R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c0","function":{"name":"add","arguments":""}}]}}]})",
      R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c1","function":{"name":"sub","arguments":"{}"}}]}}]})",
      R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}}]})",
      R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})",
  });
  EXPECT_EQ(json::parse(record.tool_calls, "").value(), json::parse(R"([
      {"id":"c0","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}},
      {"id":"c1","type":"function","function":{"name":"sub","arguments":"{}"}}])",
                                                                    "")
                                                            .value());
  ASSERT_EQ(record.events.size(), 3U);
  EXPECT_EQ(record.events[1].channel, Channel::tool);
  EXPECT_EQ(record.events[1].num_bytes, 5U);
  EXPECT_EQ(record.finish, Finish::tool_calls);
  EXPECT_EQ(record.output_hash, hash(R"(addsub{}{"a":1})"));
}

TEST(AnswerReader, TokensOfAnEventAreCountedByIdsByLogprobsOrByUsageInEveryEvent) {
  const std::string_view end = R"({"choices":[{"delta":{},"finish_reason":"stop"}]})";
  EXPECT_EQ(tokens(read({R"({"choices":[{"delta":{"content":"a"},"token_ids":[1]}]})",
                         R"({"choices":[{"delta":{"content":""},"token_ids":[2]}]})",
                         R"({"choices":[{"delta":{"content":"b"},"token_ids":[3,4]}]})", end})),
            (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(
      tokens(read(
          {R"({"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[{},{}]}}]})", end})),
      (std::vector<uint32_t>{2}));
  EXPECT_EQ(
      tokens(read({R"({"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}})",
                   R"({"choices":[{"delta":{"content":"b"}}],"usage":{"completion_tokens":4}})",
                   end})),
      (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(
      tokens(read({R"({"choices":[{"delta":{"content":"a"}}],"timings":{"predicted_n":2}})",
                   R"({"choices":[{"delta":{"content":"b"}}],"timings":{"predicted_n":3}})", end})),
      (std::vector<uint32_t>{2, 1}));
}

// Ollama and others count once, in the chunk with the last text; that is not what this chunk has.
TEST(AnswerReader, UsageInTheLastEventAloneCountsNoEvent) {
  const RequestRecord record =
      read({R"({"choices":[{"delta":{"content":"a"}}]})",
            R"({"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":5,"completion_tokens":9}})"});
  EXPECT_EQ(tokens(record), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(record.num_tokens_in, 5U);
  EXPECT_EQ(record.num_tokens_out, 9U);
  EXPECT_EQ(record.num_tokens_cached, std::nullopt);
}

TEST(AnswerReader, UsageAndTimingsAreTakenAsTheServerGivesThem) {
  const RequestRecord record = read({
      R"({"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]})",
      R"({"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,
          "prompt_tokens_details":{"cached_tokens":64},
          "completion_tokens_details":{"reasoning_tokens":4}},
          "timings":{"queue_ms":1.5,"prompt_ms":20,"predicted_ms":300,"gap_max_ms":40,
                     "draft_n":12,"draft_n_accepted":7,"cache_n":1}})",
      "[DONE]",
  });
  EXPECT_EQ(record.num_tokens_in, 100U);
  EXPECT_EQ(record.num_tokens_out, 9U);
  EXPECT_EQ(record.num_tokens_cached, 64U);
  EXPECT_EQ(record.num_tokens_reasoning, 4U);
  EXPECT_EQ(record.server, (ServerTimes{.queue_ms = 1.5,
                                        .prefill_ms = 20,
                                        .decode_ms = 300,
                                        .gap_max_ms = 40,
                                        .num_drafted = 12,
                                        .num_accepted = 7}));
  EXPECT_EQ(record.finish, Finish::length);
  EXPECT_FALSE(record.usage_disagreed);
  EXPECT_EQ(record.events.back().at, 1ns);  // usage moves no token
}

TEST(AnswerReader, UsageThatShrinksOrChangesThePromptDisagrees) {
  const auto with = [](std::string_view first, std::string_view second) {
    return read({fmt::format(R"({{"choices":[],"usage":{}}})", first),
                 fmt::format(R"({{"choices":[],"usage":{}}})", second), "[DONE]"})
        .usage_disagreed;
  };
  EXPECT_FALSE(with(R"({"prompt_tokens":5,"completion_tokens":1})",
                    R"({"prompt_tokens":5,"completion_tokens":2})"));
  EXPECT_TRUE(with(R"({"prompt_tokens":5,"completion_tokens":2})",
                   R"({"prompt_tokens":5,"completion_tokens":1})"));
  EXPECT_TRUE(with(R"({"prompt_tokens":5,"completion_tokens":1})",
                   R"({"prompt_tokens":6,"completion_tokens":1})"));
}

TEST(AnswerReader, AnErrorInsideTheStreamEndsItInTheServersWords) {
  const auto error_of = [](std::string_view event) {
    const RequestRecord record = read({R"({"choices":[{"delta":{"content":"a"}}]})", event});
    EXPECT_EQ(record.finish, Finish::error) << event;
    EXPECT_EQ(record.fault, Fault::error_event) << event;
    EXPECT_EQ(record.events.size(), 1U) << event;
    return record.error;
  };
  const std::string head = "the server reported an error inside the stream: ";
  EXPECT_EQ(error_of(R"({"error":{"message":"out\nof memory","code":500}})"),
            head + "out\\nof memory");
  EXPECT_EQ(error_of(R"({"error":"gone"})"), head + "gone");
  EXPECT_EQ(error_of(R"({"object":"error","message":"too long","code":400})"), head + "too long");
  EXPECT_EQ(error_of(R"({"choices":[{"delta":{},"finish_reason":"abort"}]})"),
            "the server gave up the answer (finish_reason abort)");
}

TEST(AnswerReader, EventsThatAreNoChunksAreCountedAndTheStreamGoesOn) {
  const RequestRecord record =
      read({"{\"choices\":[{", "[1]", R"({"a":1})", "\xff",
            R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})", "[DONE]"});
  EXPECT_EQ(record.num_malformed_events, 4U);
  EXPECT_EQ(record.finish, Finish::stop);
  EXPECT_EQ(record.fault, std::nullopt);
  EXPECT_EQ(record.text, "a");
}

TEST(AnswerReader, AnAnswerOfNothingElseIsMalformed) {
  const RequestRecord record = read({"<html>\x01", "[DONE]"});
  EXPECT_EQ(record.fault, Fault::malformed_event);
  EXPECT_EQ(record.error, "an event of the stream is no JSON: '<html>\\x01'");
}

TEST(AnswerReader, AStreamWithoutItsEndIsTruncated) {
  const RequestRecord record = read({R"({"choices":[{"delta":{"content":"a"}}]})"});
  EXPECT_EQ(record.finish, Finish::error);
  EXPECT_EQ(record.fault, Fault::truncated_stream);
  EXPECT_EQ(record.error, "the stream ended after 1 events without finish_reason and [DONE]");
  EXPECT_NE(record.output_hash, 0U);  // of what has come
}

TEST(AnswerReader, EitherEndIsEnough) {
  const RequestRecord reason =
      read({R"({"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]})"});
  EXPECT_EQ(reason.finish, Finish::length);
  EXPECT_FALSE(reason.done_seen);
  const RequestRecord mark = read({R"({"choices":[{"delta":{"content":"a"}}]})", "[DONE]"});
  EXPECT_EQ(mark.finish, Finish::stop);
  EXPECT_TRUE(mark.done_seen);
}

TEST(AnswerReader, AnAnswerWithoutTextHasNoHash) {
  EXPECT_EQ(read({R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"}).output_hash, 0U);
}

TEST(AnswerReader, AWholeAnswerHasTextAndUsageButNoEvents) {
  const RequestRecord record = read_whole(R"({"id":"x","choices":[{"index":0,"message":{
      "role":"assistant","content":"hi","reasoning_content":"hm","tool_calls":[
      {"id":"c","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}],
      "usage":{"prompt_tokens":3,"completion_tokens":2}})");
  EXPECT_TRUE(record.events.empty());
  EXPECT_TRUE(record.done_seen);
  EXPECT_EQ(record.text, "hi");
  EXPECT_EQ(record.request_id, "x");
  EXPECT_EQ(record.finish, Finish::tool_calls);
  EXPECT_EQ(record.num_tokens_out, 2U);
  EXPECT_EQ(json::parse(record.tool_calls, "").value()[0]["function"]["arguments"], R"({"a":1})");

  EXPECT_EQ(read_whole(R"({"choices":[{"text":"x","finish_reason":"stop"}]})").text, "x");
  EXPECT_EQ(read_whole("<html>").fault, Fault::http_error);
  EXPECT_EQ(read_whole(R"({"a":1})").fault, Fault::http_error);
  EXPECT_EQ(read_whole(R"({"error":{"message":"no"}})").fault, Fault::error_event);
}

// None of these may crash, and numbers of another kind count as absent.
TEST(AnswerReader, FieldsOfAnotherKindAreAbsent) {
  const RequestRecord record = read({
      R"({"id":5,"choices":[7,null,[],{"delta":[],"message":1,"text":2,"finish_reason":3}]})",
      R"({"choices":[{"delta":{"content":["a"],"tool_calls":[1,{"index":-1},{"index":9999999},{"function":4}]}}]})",
      R"({"choices":[],"usage":{"prompt_tokens":-3,"completion_tokens":1.5,"prompt_tokens_details":[]}})",
      R"({"choices":[],"usage":{"completion_tokens":2.0},"timings":{"prompt_ms":"x"}})",
      "[DONE]",
  });
  EXPECT_EQ(record.num_tokens_in, std::nullopt);
  EXPECT_EQ(record.num_tokens_out, 2U);
  EXPECT_EQ(record.server, ServerTimes());
  EXPECT_TRUE(record.events.empty());
  EXPECT_EQ(record.num_malformed_events, 2U);  // the calls 1 and 9999999
}

}  // namespace
}  // namespace evener::bench
