// Golden byte streams of both protocols. Random ids and the time are replaced before comparing.
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>

#include "base/version.h"
#include "serve/caller.h"
#include "serve/fake_generator.h"
#include "serve/openai_chat.h"
#include "serve/openai_completions.h"
#include "serve/recording_exchange.h"

namespace evener::serve {
namespace {

class Answers : public testing::Test {
 protected:
  std::shared_ptr<RecordingExchange> chat(const std::string& fields, bool thinks = false) {
    auto exchange = recorded_post("/chat/completions",
                                  R"({"messages":[{"role":"user","content":"q"}])" + fields + "}");
    answer_chat(call(exchange, thinks ? thinking_template() : plain_template()));
    return exchange;
  }

  std::shared_ptr<RecordingExchange> complete(const std::string& fields) {
    auto exchange = recorded_post("/completions", "{" + fields + "}");
    answer_completions(call(exchange, plain_template()));
    return exchange;
  }

  RouteCall call(const ExchangePtr& exchange, chat::ChatTemplate chat_template) {
    model_ = std::make_unique<FakeGenerator>();
    return {.exchange = exchange,
            .service = make_service(*model_, std::move(chat_template)),
            .metrics = metrics_,
            .answers = answers_};
  }

  // What does not change from run to run: ids, times and the constant head are cut out.
  static std::string stable(std::string text) {
    text = std::regex_replace(text, std::regex("(chatcmpl|cmpl)-[0-9a-z]{24}"), "ID");
    text = std::regex_replace(text, std::regex("\"created\":[0-9]+"), "\"created\":0");
    const std::string head = R"(,"created":0,"model":"fake","system_fingerprint":"evener-)" +
                             std::string(kVersion) + "\"";
    for (size_t at = text.find(head); at != std::string::npos; at = text.find(head)) {
      text.erase(at, head.size());
    }
    return text;
  }

  Metrics metrics_;
  RunningAnswers answers_;
  std::unique_ptr<FakeGenerator> model_;
};

#define CHUNK(rest) "data: {\"id\":\"ID\",\"object\":\"chat.completion.chunk\"," rest "}\n\n"
#define DELTA(index, delta, finish)                    \
  "\"choices\":[{\"index\":" index ",\"delta\":" delta \
  ",\"logprobs\":null,\"finish_reason\":" finish "}]"
#define USAGE(prompt, completion, total, reasoning)                                  \
  "\"usage\":{\"prompt_tokens\":" prompt ",\"completion_tokens\":" completion        \
  ",\"total_tokens\":" total                                                         \
  ",\"prompt_tokens_details\":{\"cached_tokens\":0},\"completion_tokens_details\":{" \
  "\"reasoning_tokens\":" reasoning                                                  \
  ",\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}}"

TEST_F(Answers, StreamText) {
  const auto exchange = chat(R"(,"stream":true)");
  ASSERT_EQ(exchange->response_->status, 200);
  EXPECT_EQ(exchange->response_->content_type, "text/event-stream");
  model_->say(1, "Hel");
  model_->say(1, "", "l");  // held back: no chunk, and above all none with content ""
  model_->say(1, "lo", "o");
  model_->finish(1);
  EXPECT_EQ(stable(exchange->stream_),
            CHUNK(DELTA("0", R"({"role":"assistant"})", "null"))
                CHUNK(DELTA("0", R"({"content":"Hel"})", "null"))
                    CHUNK(DELTA("0", R"({"content":"lo"})", "null"))
                        CHUNK(DELTA("0", "{}", R"("stop")")) "data: [DONE]\n\n");
  EXPECT_EQ(exchange->after_, AfterStream::keep_connection);
}

TEST_F(Answers, StreamReasoningThenTextWithUsage) {
  const auto exchange = chat(R"(,"stream":true,"stream_options":{"include_usage":true})", true);
  model_->say(1, "hm");
  model_->say(1, "</think>", "t");
  model_->say(1, "\n\nYes", "yes");
  model_->finish(1, engine::FinishReason::length);
  EXPECT_EQ(stable(exchange->stream_),
            CHUNK(DELTA("0", R"({"role":"assistant"})", "null") ",\"usage\":null")
                CHUNK(DELTA("0", R"({"reasoning_content":"hm"})", "null") ",\"usage\":null")
                    CHUNK(DELTA("0", R"({"content":"Yes"})", "null") ",\"usage\":null")
                        CHUNK(DELTA("0", "{}", R"("length")") ",\"usage\":null") CHUNK(
                            "\"choices\":[]," USAGE("33", "6", "39", "3")) "data: [DONE]\n\n");
}

TEST_F(Answers, StreamTwoChoicesInterleaved) {
  const auto exchange = chat(R"(,"stream":true,"n":2)");
  model_->say(2, "b");
  model_->say(1, "a");
  model_->finish(2);
  model_->finish(1);
  EXPECT_EQ(stable(exchange->stream_),
            CHUNK(DELTA("0", R"({"role":"assistant"})", "null"))
                CHUNK(DELTA("1", R"({"role":"assistant"})", "null"))
                    CHUNK(DELTA("1", R"({"content":"b"})", "null"))
                        CHUNK(DELTA("0", R"({"content":"a"})", "null"))
                            CHUNK(DELTA("1", "{}", R"("stop")"))
                                CHUNK(DELTA("0", "{}", R"("stop")")) "data: [DONE]\n\n");
}

TEST_F(Answers, StreamLogprobsWithTheChunkOfTheirText) {
  const auto exchange = chat(R"(,"stream":true,"logprobs":true,"top_logprobs":2)");
  EXPECT_EQ(model_->request(1).num_top_logprobs, 2U);
  model_->say(1, "", "a");
  model_->say(1, "ab", "b");
  model_->finish(1);
  const std::string entry_a =
      R"({"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]},)"
      R"({"token":"z","logprob":-2.0,"bytes":[122]}]})";
  std::string entry_b = std::regex_replace(entry_a, std::regex("\"a\""), "\"b\"");
  entry_b = std::regex_replace(entry_b, std::regex("97"), "98");
  EXPECT_EQ(
      stable(exchange->stream_),
      CHUNK(DELTA(
          "0", R"({"role":"assistant"})",
          "null")) R"(data: {"id":"ID","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"ab"},)"
                   R"("logprobs":{"content":[)" +
          entry_a + "," + entry_b + R"(],"refusal":null},"finish_reason":null}]})" +
          "\n\n" CHUNK(DELTA("0", "{}", R"("stop")")) "data: [DONE]\n\n");
}

TEST_F(Answers, StreamErrorAfterHeadersAsEventWithoutDone) {
  const auto exchange = chat(R"(,"stream":true,"n":2)");
  model_->say(1, "a");
  model_->fail(
      1, {.code = Code::internal, .doing = "run", .where = "/secret", .why = "0x7f", .remedy = ""});
  EXPECT_TRUE(
      stable(exchange->stream_)
          .ends_with(
              R"(data: {"error":{"message":"the server failed on this request; its log says )"
              R"(why","type":"server_error","param":null,"code":"internal_error"}})"
              "\n\n"));
  EXPECT_EQ(exchange->stream_.find("[DONE]"), std::string::npos);
  EXPECT_EQ(exchange->after_, AfterStream::close_connection);
  EXPECT_TRUE(model_->was_cancelled(2));
  EXPECT_FALSE(model_->was_cancelled(1));
}

TEST_F(Answers, WholeChat) {
  const auto exchange = chat("");
  model_->say(1, "Hi");
  EXPECT_FALSE(exchange->response_.has_value());
  model_->finish(1);
  ASSERT_TRUE(exchange->response_.has_value());
  EXPECT_EQ(
      stable(exchange->response_->body),
      R"({"id":"ID","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",)"
      R"("content":"Hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],)" USAGE(
          "25", "2", "27", "0") "}");
  EXPECT_TRUE(exchange->note_.starts_with("prompt=25 cached=0 generated=2 "));
}

TEST_F(Answers, PromptThatDoesNotFitIsRefusedWithTheAgentsText) {
  const auto exchange = complete(R"("prompt":")" + std::string(1000, 'x') + "\"");
  EXPECT_EQ(exchange->response_->status, 400);
  EXPECT_EQ(
      exchange->response_->body,
      R"({"error":{"message":"This model's maximum context length is 1000 tokens. However, your )"
      R"(request has 1000 input tokens, which leaves no room for an answer. Please reduce the length )"
      R"(of the messages.","type":"invalid_request_error","param":null,)"
      R"("code":"context_length_exceeded","n_prompt_tokens":1000,"n_ctx":1000}})");
}

TEST_F(Answers, FullQueueIsAnsweredWithRetryAfter) {
  auto exchange = recorded_post("/completions", R"({"prompt":"x"})");
  const RouteCall route_call = call(exchange, plain_template());
  model_->refuses_ = true;
  model_->stats_.scheduler.usual_wait = std::chrono::milliseconds(12'300);
  answer_completions(route_call);
  EXPECT_EQ(exchange->response_->status, 503);
  EXPECT_EQ(exchange->response_->headers, (Headers{{"Retry-After", "13"}}));
}

TEST_F(Answers, LeavingClientCancelsEveryChoice) {
  const auto exchange = chat(R"(,"n":3)");
  model_->finish(2);
  exchange->abort(AbortReason::client_gone);
  EXPECT_TRUE(model_->was_cancelled(1));
  EXPECT_FALSE(model_->was_cancelled(2));
  EXPECT_TRUE(model_->was_cancelled(3));
  model_->say(1, "late");  // comes after all and is dropped
  EXPECT_FALSE(exchange->response_.has_value());
}

TEST_F(Answers, StoppingServerEndsAStreamWithAnError) {
  const auto exchange = chat(R"(,"stream":true)");
  model_->say(1, "a");
  exchange->abort(AbortReason::server_stopping);
  EXPECT_TRUE(exchange->stream_.ends_with(
      R"(data: {"error":{"message":"the server is stopping; the answer is not complete",)"
      R"("type":"overloaded_error","param":null,"code":"unavailable"}})"
      "\n\n"));
  EXPECT_TRUE(model_->was_cancelled(1));
}

TEST_F(Answers, StreamCompletionsOfTwoPrompts) {
  const auto exchange =
      complete(R"("prompt":["ab",[99]],"stream":true,"echo":true,"max_tokens":3)");
  EXPECT_EQ(model_->request(1).max_new_tokens, 3U);
  EXPECT_EQ(model_->request(2).prompt, std::vector<TokenId>{'c'});
  model_->say(1, "x");
  model_->finish(1);
  model_->finish(2, engine::FinishReason::length);
  EXPECT_EQ(
      stable(exchange->stream_),
      R"(data: {"id":"ID","object":"text_completion","choices":[{"index":0,"text":"abx","logprobs":null,"finish_reason":null}]})"
      "\n\n"
      R"(data: {"id":"ID","object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]})"
      "\n\n"
      R"(data: {"id":"ID","object":"text_completion","choices":[{"index":1,"text":"c","logprobs":null,"finish_reason":"length"}]})"
      "\n\ndata: [DONE]\n\n");
}

// Evaluation harnesses score a text this way.
TEST_F(Answers, PromptScores) {
  const auto exchange = complete(R"("prompt":"abc","echo":true,"logprobs":1,"max_tokens":0)");
  EXPECT_TRUE(model_->request(1).prompt_logprobs);
  std::vector<engine::TokenOutput> prompt;
  for (const char byte : std::string("abc")) {
    prompt.push_back(
        {.chosen = {.id = byte, .bytes = std::string(1, byte), .logprob = -1}, .top = {}});
  }
  model_->read_prompt(1, prompt);
  model_->say(1, "never shown", "n");
  model_->finish(1, engine::FinishReason::length);
  EXPECT_EQ(
      stable(exchange->response_->body),
      R"({"id":"ID","object":"text_completion","choices":[{"index":0,"text":"abc","logprobs":{)"
      R"("tokens":["a","b","c"],"token_logprobs":[null,-1.0,-1.0],"top_logprobs":[null,{"b":-1.0},)"
      R"({"c":-1.0}],"text_offset":[0,1,2]},"finish_reason":"length"}],)" USAGE("3", "0", "3",
                                                                                "0") "}");
}

TEST_F(Answers, TokensThatAreHalfACharacterAreSpelledOut) {
  const auto exchange = complete(R"("prompt":"a","logprobs":0)");
  model_->say(1, "", "\xC3");
  model_->say(1, "é", "\xA9");
  model_->finish(1);
  EXPECT_NE(exchange->response_->body.find(R"("tokens":["bytes:\\xc3","bytes:\\xa9"])"),
            std::string::npos)
      << exchange->response_->body;
  EXPECT_NE(exchange->response_->body.find(R"("text_offset":[0,1])"), std::string::npos);
}

// Whoever asks for it hears of the queue and the prompt; all others get no chunk before a token.
TEST_F(Answers, StreamTellsHowFarQueueAndPromptAre) {
  const auto exchange = chat(R"(,"stream":true,"return_progress":true)");
  model_->wait_in_queue(1, 3);
  model_->read_some(1, 8, 16);
  model_->say(1, "a");
  model_->finish(1);
  const auto progress = [](const std::string& news) {
    return R"(data: {"id":"ID","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},)"
           R"("logprobs":null,"finish_reason":null}],"prompt_progress":{"total":25,)" +
           news + "}}\n\n";
  };
  EXPECT_EQ(stable(exchange->stream_),
            CHUNK(DELTA("0", R"({"role":"assistant"})", "null")) +
                progress(R"("cache":0,"processed":0,"time_ms":0.0,"ahead":3)") +
                progress(R"("cache":8,"processed":16,"time_ms":0.0)") +
                CHUNK(DELTA("0", R"({"content":"a"})", "null"))
                    CHUNK(DELTA("0", "{}", R"("stop")")) "data: [DONE]\n\n");
}

TEST_F(Answers, StreamIsSilentInTheQueueIfNobodyAsked) {
  const auto exchange = chat(R"(,"stream":true)");
  model_->wait_in_queue(1, 3);
  EXPECT_EQ(exchange->stream_, "");
  model_->read_some(1, 0, 16);
  EXPECT_EQ(stable(exchange->stream_), CHUNK(DELTA("0", R"({"role":"assistant"})", "null")));
  exchange->abort(AbortReason::client_gone);  // else exchange and answer hold each other
}

Error no_place() {
  return {.code = Code::unavailable,
          .doing = "accept the request",
          .where = "",
          .why = "no place became free within 5 s",
          .remedy = "try again later"};
}

TEST_F(Answers, StreamThatNeverGotAPlaceIsAWholeErrorWithRetryAfter) {
  for (const char* fields : {R"(,"stream":true)", ""}) {
    const auto exchange = chat(fields);
    model_->wait_in_queue(1, 3);
    model_->fail(1, no_place());
    EXPECT_EQ(exchange->response_->status, 503);
    EXPECT_EQ(exchange->response_->headers, (Headers{{"Retry-After", "1"}}));
    EXPECT_EQ(exchange->response_->body,
              R"({"error":{"message":"no place became free within 5 s: try again later",)"
              R"("type":"overloaded_error","param":null,"code":"unavailable"}})");
    EXPECT_EQ(exchange->stream_, "");
  }
}

TEST_F(Answers, StreamThatHasBegunEndsWithTheErrorAsAnEvent) {
  const auto exchange = chat(R"(,"stream":true,"return_progress":true)");
  model_->wait_in_queue(1, 3);
  model_->fail(1, no_place());
  EXPECT_EQ(exchange->response_->status, 200);
  EXPECT_TRUE(exchange->stream_.ends_with(
      R"(data: {"error":{"message":"no place became free within 5 s: try again later",)"
      R"("type":"overloaded_error","param":null,"code":"unavailable"}})"
      "\n\n"));
}

TEST_F(Answers, UsageAndTimingsSayWhatTheCacheSaved) {
  const auto exchange = chat(R"(,"n":2,"timings":true)");
  model_->read_some(1, 16, 25);
  model_->read_some(2, 24, 25);
  model_->say(1, "a");
  model_->say(2, "b");
  model_->finish(2);
  model_->finish(1);
  const Json body = Json::parse(exchange->response_->body);
  EXPECT_EQ(body["usage"]["prompt_tokens"], 25);
  EXPECT_EQ(body["usage"]["prompt_tokens_details"]["cached_tokens"], 16);
  EXPECT_EQ(body["timings"]["cache_n"], 16);
  EXPECT_EQ(body["timings"]["prompt_n"], 9);
  EXPECT_EQ(body["timings"]["cache_end"], "differs");
  EXPECT_TRUE(body["timings"].contains("queue_ms"));
  EXPECT_TRUE(body["timings"].contains("gap_max_ms"));
  EXPECT_TRUE(exchange->note_.starts_with("prompt=50 cached=40 generated=2 queue="));
  EXPECT_NE(metrics_.to_text(nullptr, nullptr)
                .find("evener_prefix_match_ends_total{reason=\"differs\"} 2\n"),
            std::string::npos);
}

TEST_F(Answers, PromptsAreCountedWithTheirCachedTokens) {
  const auto exchange = complete(R"("prompt":["abcdef","abcxyz"])");
  model_->read_some(1, 0, 6);
  model_->read_some(2, 3, 6);
  model_->finish(1);
  model_->finish(2);
  EXPECT_NE(exchange->response_->body.find(R"("prompt_tokens":12)"), std::string::npos);
  EXPECT_NE(exchange->response_->body.find(R"("cached_tokens":3)"), std::string::npos);
}

// ---- who asks

engine::GenerationRequest asked(FakeGenerator& model, const std::string& fields, Headers headers,
                                Caller caller) {
  auto exchange = recorded_post("/chat/completions",
                                R"({"messages":[{"role":"user","content":"q"}])" + fields + "}");
  exchange->request_.headers = std::move(headers);
  Metrics metrics;
  RunningAnswers answers;
  answer_chat({.exchange = exchange,
               .service = make_service(model, plain_template()),
               .metrics = metrics,
               .answers = answers,
               .caller = caller});
  auto request = model.request(1);
  model.finish(1);
  return request;
}

engine::GenerationRequest asked(const std::string& fields, Headers headers = {},
                                Caller caller = {.client = 1, .salt = 2}) {
  FakeGenerator model;
  return asked(model, fields, std::move(headers), caller);
}

TEST(Origin, IsTheCallersByDefault) {
  const auto request = asked("");
  EXPECT_EQ(request.client, 1U);
  EXPECT_EQ(request.salt, 2U);
  EXPECT_EQ(request.session, 0U);
  EXPECT_EQ(request.priority, 0);
}

TEST(Origin, NamesASessionByHeaderOrField) {
  const auto session = asked(R"(,"session_id":"s")").session;
  EXPECT_NE(session, 0U);
  EXPECT_EQ(asked(R"(,"prompt_cache_key":"s")").session, session);
  EXPECT_EQ(asked(R"(,"prompt_cache_key":"t","session_id":"s")").session, session);
  EXPECT_EQ(asked(R"(,"session_id":"t")", {{"x-session-id", "s"}}).session, session);
  EXPECT_EQ(asked("", {{"session_id", "s"}}).session, session);
  EXPECT_NE(asked(R"(,"session_id":"t")").session, session);
  EXPECT_NE(asked(R"(,"session_id":"s")", {}, {.client = 3, .salt = 2}).session, session);
}

TEST(Origin, DividesWhatIsSharedByASaltOfItsOwn) {
  const auto salt = asked(R"(,"cache_salt":"x")").salt;
  EXPECT_NE(salt, 2U);
  EXPECT_EQ(asked(R"(,"cache_salt":"x")").salt, salt);
  EXPECT_NE(asked(R"(,"cache_salt":"y")").salt, salt);
  EXPECT_NE(asked(R"(,"cache_salt":"x")", {}, {.client = 1, .salt = 3}).salt, salt);
}

TEST(Origin, CarriesThePriority) { EXPECT_EQ(asked(R"(,"priority":-5)").priority, -5); }

TEST(Origin, TellsWhereMessagesEnd) {  // the template's tags end in >, which the fake ends turns by
  EXPECT_EQ(asked("").message_ends, (std::vector<size_t>{6, 14, 25}));
}

HttpRequest from(std::string address) {
  HttpRequest request;
  request.address = std::move(address);
  return request;
}

TEST(Caller, IsTheKeyAndWithoutKeysTheAddress) {
  const HttpRequest here = from("127.0.0.1");
  const HttpRequest there = from("10.0.0.7");
  EXPECT_EQ(caller_of(here, "k").client, caller_of(there, "k").client);
  EXPECT_NE(caller_of(here, "k").client, caller_of(here, "other").client);
  EXPECT_NE(caller_of(here, {}).client, caller_of(there, {}).client);
  EXPECT_NE(caller_of(here, "127.0.0.1").client, caller_of(here, {}).client);
}

TEST(Caller, SharesPrefixesWithinAKeyOnlyAndWithoutKeysWithAll) {
  const HttpRequest here = from("127.0.0.1");
  const HttpRequest there = from("10.0.0.7");
  EXPECT_EQ(caller_of(here, "k").salt, caller_of(there, "k").salt);
  EXPECT_NE(caller_of(here, "k").salt, caller_of(here, "other").salt);
  EXPECT_NE(caller_of(here, "k").salt, 0U);
  EXPECT_EQ(caller_of(here, {}).salt, 0U);
  EXPECT_EQ(caller_of(there, {}).salt, 0U);
}

// ---- ends that the client does not wait for

TEST_F(Answers, AbortByAnswersOrRequestsId) {
  for (const bool by_request_id : {false, true}) {
    const auto exchange = chat(R"(,"stream":true)");
    model_->say(1, "a");
    const size_t at = exchange->stream_.find("chatcmpl-");
    const std::string id = by_request_id ? "req_test" : exchange->stream_.substr(at, 33);
    EXPECT_EQ(answers_.abort(7, id), 0U);  // somebody else's
    EXPECT_EQ(answers_.abort(0, "chatcmpl-other"), 0U);
    EXPECT_FALSE(model_->was_cancelled(1));
    EXPECT_EQ(answers_.abort(0, id), 1U);
    EXPECT_TRUE(model_->was_cancelled(1));
    EXPECT_TRUE(exchange->stream_.ends_with(
        R"(data: {"error":{"message":"the request was ended by POST /v1/abort",)"
        R"("type":"invalid_request_error","param":null,"code":"request_aborted"}})"
        "\n\n"));
    EXPECT_EQ(answers_.abort(0, id), 0U);  // it is gone
  }
}

TEST_F(Answers, EachPhaseOfACancelledRequestIsCounted) {
  const auto count = [this](const std::string& phase) {
    return metrics_.to_text(nullptr, nullptr)
               .find("evener_cancellations_total{phase=\"" + phase +
                     "\",reason=\"client_gone\"} 1\n") != std::string::npos;
  };
  const auto queued = chat("");
  model_->wait_in_queue(1, 2);
  queued->abort(AbortReason::client_gone);
  EXPECT_TRUE(count("queue"));
  EXPECT_TRUE(model_->was_cancelled(1));
  const auto reading = chat("");
  model_->read_some(1, 0, 5);
  reading->abort(AbortReason::client_gone);
  EXPECT_TRUE(count("prefill"));
  EXPECT_TRUE(model_->was_cancelled(1));
  const auto answering = chat("");
  model_->say(1, "a");
  answering->abort(AbortReason::client_gone);
  EXPECT_TRUE(count("decode"));
  EXPECT_TRUE(model_->was_cancelled(1));
  EXPECT_TRUE(answering->note_.ends_with(" ended: client_gone")) << answering->note_;
}

// The client has gone while its chat was being rendered.
TEST_F(Answers, NothingIsQueuedForAClientThatLeftBefore) {
  auto exchange = recorded_post("/completions", R"({"prompt":"x"})");
  exchange->aborted_before_ = AbortReason::client_gone;
  answer_completions(call(exchange, plain_template()));
  EXPECT_EQ(model_->num_requests(), 0U);
  EXPECT_NE(
      metrics_.to_text(nullptr, nullptr).find("{phase=\"template\",reason=\"client_gone\"} 1"),
      std::string::npos);
}

}  // namespace
}  // namespace evener::serve
