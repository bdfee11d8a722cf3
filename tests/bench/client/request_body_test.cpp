#include "bench/client/request_body.h"

#include <gtest/gtest.h>

namespace evener::bench {
namespace {

json::Value body_of(const RequestPlan& plan, std::string_view model = "m") {
  RequestBody body = make_body(plan);
  body.name_model(model);
  body.name_model("a later one");
  return json::parse(body.text, "body").value();
}

TEST(RequestBody, APlanOfMessagesIsSaidInFull) {
  RequestPlan plan;
  plan.messages = {{.role = "system", .content = "be \"brief\""}, {.role = "user", .content = "ä"}};
  plan.max_tokens = 12;
  plan.force_length = true;
  plan.seed = 3;
  plan.session = "s1";
  EXPECT_EQ(make_body(plan).path, "/v1/chat/completions");
  EXPECT_EQ(body_of(plan), json::parse(R"({"model":"m","messages":[
      {"role":"system","content":"be \"brief\""},{"role":"user","content":"ä"}],
      "max_tokens":12,"ignore_eos":true,"min_tokens":12,"temperature":0.0,"seed":3,"stream":true,
      "timings":true,
      "stream_options":{"include_usage":true,"continuous_usage_stats":true},
      "session_id":"s1","prompt_cache_key":"s1"})",
                                       "expected")
                               .value());
}

TEST(RequestBody, APromptGoesToCompletionsAndWhatIsNotWantedIsNotSent) {
  RequestPlan plan;
  plan.prompt = "once";
  plan.temperature = 0.5;
  plan.stream = false;
  EXPECT_EQ(make_body(plan).path, "/v1/completions");
  EXPECT_EQ(json::parse(make_body(plan).text, "").value(),
            json::parse(R"({"prompt":"once","temperature":0.5,"stream":false,"timings":true})", "")
                .value());
}

TEST(RequestBody, FurtherFieldsWin) {
  RequestPlan plan;
  plan.prompt = "once";
  plan.max_tokens = 9;
  plan.more = {{"max_tokens", 1},
               {"model", "other"},
               {"messages", json::Value::array()},
               {"stream_options", {{"include_usage", true}}}};
  const json::Value body = body_of(plan);
  EXPECT_EQ(body["max_tokens"], 1);
  EXPECT_EQ(body["model"], "other");
  EXPECT_FALSE(body["stream_options"].contains("continuous_usage_stats"));
  EXPECT_FALSE(body.contains("prompt"));
  EXPECT_EQ(make_body(plan).path, "/v1/chat/completions");
}

TEST(RequestBody, TheHashTellsPromptsApartAndNothingElse) {
  RequestPlan plan;
  plan.prompt = "once";
  const uint64_t hash = make_body(plan).prompt_hash;
  plan.max_tokens = 7;
  plan.seed = 1;
  EXPECT_EQ(make_body(plan).prompt_hash, hash);
  plan.prompt = "twice";
  EXPECT_NE(make_body(plan).prompt_hash, hash);
}

TEST(RequestBody, BytesThatAreNoUtf8AreReplaced) {
  RequestPlan plan;
  plan.prompt = "a\xff";
  EXPECT_EQ(body_of(plan)["prompt"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace evener::bench
