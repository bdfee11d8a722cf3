// Every field of a request body: a wrong one is answered with the whole error that names it.
#include <gtest/gtest.h>

#include <string>

#include "serve/chat_request.h"
#include "serve/completion_request.h"
#include "serve/fake_generator.h"

namespace evener::serve {
namespace {

struct Case {
  const char* fields;  // put into an otherwise good body
  const char* error;   // type|param|message; "" if the body is good
};

std::string summary(const ApiError& error) {
  return error.type + "|" + error.param + "|" + error.message;
}

std::string chat_error(const std::string& body) {
  const auto json = parse_object(body);
  if (!json) return summary(json.error());
  const auto request = parse_chat_request(*json, plain_template(), 256);
  return request ? "" : summary(request.error());
}

std::string completion_error(const std::string& body) {
  const FakeGenerator generator;
  const auto json = parse_object(body);
  if (!json) return summary(json.error());
  const auto request = parse_completion_request(*json, generator);
  return request ? "" : summary(request.error());
}

#define BAD "invalid_request_error|"
#define NOT "not_supported_error|"

constexpr Case kSharedCases[] = {
    {R"("unknown_field":{"a":[1]},"store":true,"metadata":{},"user":"u")", ""},
    {R"("temperature":null,"top_p":null,"stop":null,"seed":null,"n":null,"stream":null)", ""},
    {R"("temperature":"hot")", BAD "temperature|temperature must be a number, not a string"},
    {R"("temperature":-0.1)", BAD "temperature|temperature must be between 0 and 100, not -0.1"},
    {R"("top_p":1.5)", BAD "top_p|top_p must be between 0 and 1, not 1.5"},
    {R"("top_k":2.5)", BAD "top_k|top_k must be a whole number"},
    {R"("top_k":-1)", ""},
    {R"("min_p":[0])", BAD "min_p|min_p must be a number, not a list"},
    {R"("presence_penalty":3)",
     BAD "presence_penalty|presence_penalty must be between -2 and 2, not 3"},
    {R"("repetition_penalty":0)",
     BAD "repetition_penalty|repetition_penalty must be between 0.01 and 10, not 0"},
    {R"("n":0)", BAD "n|n must be between 1 and 8, not 0"},
    {R"("n":9)", BAD "n|n must be between 1 and 8, not 9"},
    {R"("n":1000)", BAD "n|n must be between 1 and 8, not 1000"},
    {R"("n":2.0)", ""},
    {R"("priority":-3,"session_id":"s","prompt_cache_key":"k","cache_salt":"x")", ""},
    {R"("priority":1.5)", BAD "priority|priority must be a whole number"},
    {R"("priority":4294967296)",
     BAD "priority|priority must be between -2147483648 and 2147483647, not 4294967296"},
    {R"("session_id":7)", BAD "session_id|session_id must be a string, not a number"},
    {R"("prompt_cache_key":[])",
     BAD "prompt_cache_key|prompt_cache_key must be a string, not a list"},
    {R"("cache_salt":{})", BAD "cache_salt|cache_salt must be a string, not an object"},
    {R"("seed":-3)", ""},
    {R"("seed":"x")", BAD "seed|seed must be a whole number, not a string"},
    {R"("stream":"yes")", BAD "stream|stream must be a boolean, not a string"},
    {R"("stream_options":[])", BAD "stream_options|stream_options must be an object, not a list"},
    {R"("stream_options":{"include_usage":1})", BAD
     "stream_options.include_usage|stream_options.include_usage must be a boolean, not a number"},
    {R"("max_tokens":-2)", BAD "max_tokens|max_tokens must be at least -1, not -2"},
    {R"("max_tokens":128000)", ""},
    {R"("max_tokens":5,"min_tokens":6)",
     BAD "min_tokens|min_tokens must not be larger than max_tokens"},
    {R"("stop":"")",
     BAD "stop|stop must be a string or a list of up to 16 strings, each of 1 to 1024 bytes"},
    {R"("stop":["a",1])",
     BAD "stop|stop must be a string or a list of up to 16 strings, each of 1 to 1024 bytes"},
    {R"("stop_token_ids":[256])",
     BAD "stop_token_ids|stop_token_ids must hold token ids from 0 to 255"},
    {R"("logit_bias":{"256":1})",
     BAD "logit_bias.256|logit_bias.256 must be named by a token id below 256"},
    {R"("logit_bias":{"7":101})",
     BAD "logit_bias.7|logit_bias.7 must be a number between -100 and 100"},
    {R"("logit_bias":{"7":-100})", ""},
    {R"("grammar":"root ::= x")", NOT "grammar|grammar: answers cannot be constrained by a grammar "
                                      "or schema yet; leave the field out"},
    {R"("model":7)", BAD "model|model must be a string, not a number"},
};

TEST(Validation, NamesTheFaultyFieldInChat) {
  for (const Case& c : kSharedCases) {
    EXPECT_EQ(
        chat_error(std::string(R"({"messages":[{"role":"user","content":"x"}],)") + c.fields + "}"),
        c.error)
        << c.fields;
  }
}

TEST(Validation, NamesTheFaultyFieldInCompletions) {
  for (const Case& c : kSharedCases) {
    EXPECT_EQ(completion_error(std::string(R"({"prompt":"x",)") + c.fields + "}"), c.error)
        << c.fields;
  }
}

TEST(Validation, NamesWhatIsWrongOnlyInChat) {
  constexpr Case kCases[] = {
      {R"("max_tokens":0)", BAD "max_tokens|max_tokens must be at least 1"},
      {R"("logprobs":1)", BAD "logprobs|logprobs must be a boolean, not a number"},
      {R"("logprobs":true,"top_logprobs":21)",
       BAD "top_logprobs|top_logprobs must be between 0 and 20, not 21"},
      {R"("top_logprobs":2)", BAD "top_logprobs|top_logprobs needs logprobs to be true"},
      {R"("response_format":{"type":"text"})", ""},
      {R"("response_format":{"type":"json_object"})",
       NOT "response_format|response_format: json_object is not served yet, only text"},
      {R"("response_format":{})", BAD
       "response_format.type|response_format.type must be one of text, json_object, json_schema"},
      {R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto")", ""},
      {R"("tools":[{"type":"web_search"}])",
       NOT "tools[0].type|tools[0].type: only tools of type function can be offered"},
      {R"("tools":[{"type":"function","function":{}}])",
       BAD "tools[0].function.name|tools[0].function.name must be a string"},
      {R"("tool_choice":"required")",
       NOT "tool_choice|tool_choice: calls cannot be forced yet, only auto and none are served"},
      {R"("tool_choice":{"type":"function","function":{"name":"f"}})",
       NOT "tool_choice|tool_choice: calls cannot be forced yet, only auto and none are served"},
      {R"("tool_choice":"maybe")",
       BAD "tool_choice|tool_choice must be none, auto, required or an object naming a function"},
      {R"("reasoning_effort":"much")", BAD
       "reasoning_effort|reasoning_effort must be one of none, minimal, low, medium, high, xhigh"},
      {R"("thinking":{"type":"enabled","budget_tokens":9})",
       NOT "thinking.budget_tokens|thinking.budget_tokens: thinking cannot be bounded yet"},
      {R"("chat_template_kwargs":{"messages":[]})",
       BAD "chat_template_kwargs.messages|chat_template_kwargs.messages must be sent as a field of "
           "its own"},
      {R"("continue_final_message":true)", BAD "continue_final_message|continue_final_message "
                                               "needs a last message of the assistant with text"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(
        chat_error(std::string(R"({"messages":[{"role":"user","content":"x"}],)") + c.fields + "}"),
        c.error)
        << c.fields;
  }
}

TEST(Validation, NamesTheFaultyMessage) {
  constexpr Case kCases[] = {
      {R"(null)", BAD "messages|messages must be a list of at least one message"},
      {R"([])", BAD "messages|messages must be a list of at least one message"},
      {R"({})", BAD "messages|messages must be a list, not an object"},
      {R"([1])", BAD "messages[0]|messages[0] must be an object"},
      {R"([{"role":"user","content":"x"},{"role":"king","content":"x"}])", BAD
       "messages[1].role|messages[1].role must be one of system, developer, user, assistant, tool"},
      {R"([{"role":"user"}])",
       BAD "messages[0].content|messages[0].content must be a string or a list of parts"},
      {R"([{"role":"user","content":7}])", BAD
       "messages[0].content|messages[0].content must be a string or a list of up to 1000 parts"},
      {R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}]}])",
       ""},
      {R"([{"role":"user","content":[{"type":"text"}]}])",
       BAD "messages[0].content[0].text|messages[0].content[0].text must be a string"},
      {R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}])", NOT
       "messages[0].content[0].type|messages[0].content[0].type: this model reads text only, not "
       "image_url"},
      {R"([{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",)"
       R"("function":{"name":"f","arguments":"{\"a\":1}"}}]}])",
       ""},
      {R"([{"role":"assistant","content":null}])",
       BAD "messages[0].content|messages[0].content must be a string or a list of parts"},
      {R"([{"role":"assistant","tool_calls":[{"function":{}}]}])", BAD
       "messages[0].tool_calls[0].function.name|messages[0].tool_calls[0].function.name must be a "
       "string"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(chat_error(std::string(R"({"messages":)") + c.fields + "}"), c.error) << c.fields;
  }
}

TEST(Validation, NamesWhatIsWrongOnlyInCompletions) {
  constexpr Case kCases[] = {
      {R"("n":1)", BAD
       "prompt|prompt must be a string, a list of strings, a list of token ids or a list of those"},
      {R"("prompt":"")", BAD "prompt|prompt must not be empty"},
      {R"("prompt":["a",""])", BAD "prompt[1]|prompt[1] must not be empty"},
      {R"("prompt":[1,2,255])", ""},
      {R"("prompt":[[1,2],"abc"])", ""},
      {R"("prompt":[1,256])", BAD "prompt|prompt must hold token ids from 0 to 255"},
      {R"("prompt":[[1,-1]])", BAD "prompt[0]|prompt[0] must hold token ids from 0 to 255"},
      {R"("prompt":{"a":1})", BAD "prompt|prompt must be a string or a list of token ids"},
      {R"("prompt":"x","max_tokens":0)",
       BAD "max_tokens|max_tokens must be at least 1 without echo"},
      {R"("prompt":"x","max_tokens":0,"echo":true)", ""},
      {R"("prompt":"x","suffix":"y")",
       NOT "suffix|suffix: this model has no tokens for filling in the middle"},
      {R"("prompt":"x","best_of":3)", NOT "best_of|best_of: must equal n; answers are not ranked"},
      {R"("prompt":"x","logprobs":21)", BAD "logprobs|logprobs must be between 0 and 20, not 21"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(completion_error(std::string("{") + c.fields + "}"), c.error) << c.fields;
  }
}

chat::Conversation conversation_of(const std::string& body) {
  const auto json = parse_object(body);
  const auto request = parse_chat_request(*json, plain_template(), 256);
  EXPECT_TRUE(request.has_value()) << (request ? "" : summary(request.error()));
  return request ? request->conversation : chat::Conversation{};
}

TEST(Messages, BecomeWhatTemplatesUnderstand) {
  const auto conversation = conversation_of(
      R"({"messages":[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},)"
      R"({"role":"assistant","content":null,"reasoning":"r","tool_calls":[{"id":"1","type":"function",)"
      R"("function":{"name":"f","arguments":"{\"y\":1,\"x\":2}"}}]}],"tool_choice":"none",)"
      R"("tools":[{"type":"function","function":{"name":"f"}}],"reasoning_effort":"none"})");
  EXPECT_EQ(conversation.messages[0]["role"], "system");
  EXPECT_EQ(conversation.messages[0]["content"], "a\nb");
  EXPECT_EQ(conversation.messages[1]["content"], "");
  EXPECT_EQ(conversation.messages[1]["reasoning_content"], "r");
  EXPECT_EQ(conversation.messages[1]["tool_calls"][0]["function"]["arguments"].dump(),
            R"({"y":1,"x":2})");
  EXPECT_TRUE(conversation.tools.is_null());  // "none" hides them
  EXPECT_EQ(conversation.extra.dump(), R"({"reasoning_effort":"none","enable_thinking":false})");
}

TEST(RenderPrompt, GoesOnWithTheLastMessage) {
  const chat::ChatTemplate chat_template = plain_template();
  const auto json = parse_object(
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"Once upon "}],)"
      R"("continue_final_message":true,"add_generation_prompt":false})");
  const auto request = parse_chat_request(*json, chat_template, 256);
  ASSERT_TRUE(request.has_value()) << summary(request.error());
  const auto prompt =
      render_prompt(request->conversation, request->continue_final_message, chat_template);
  EXPECT_EQ(prompt.value(), "<user>q</user><assistant>Once upon");
}

TEST(GenerationRequest, ChoicesCountSeedsUp) {
  GenerationFields fields;
  fields.seed = 41;
  EXPECT_EQ(to_generation_request(fields, {1}, 0, {}).sampling.seed, 41U);
  EXPECT_EQ(to_generation_request(fields, {1}, 1, {}).sampling.seed, 42U);
}

}  // namespace
}  // namespace evener::serve
