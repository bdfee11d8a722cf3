// Our own templates against stored outputs of @huggingface/jinja (tests/peer/chat_expected.mjs).

#include <gtest/gtest.h>

#include <map>

#include "chat/rendering.h"

namespace evener::chat {
namespace {

std::string own_template(const std::string& name) {
  return read_text(std::string(EVENER_TEST_DATA) + "/chat/" + name);
}

TEST(ExpectedPrompts, AreThoseOfAnImplementationThatNobodyHereWrote) {
  std::ifstream lines(std::string(EVENER_TEST_DATA) + "/chat/expected.jsonl");
  std::map<std::string, ChatTemplate> parsed;
  size_t num_cases = 0;
  size_t num_refused = 0;
  for (std::string line; std::getline(lines, line); ++num_cases) {
    const Json expected = Json::parse(line);
    const auto name = expected.at("template").get<std::string>();
    if (!parsed.contains(name)) {
      auto result = ChatTemplate::parse(own_template(name), special_texts());
      ASSERT_TRUE(result) << to_string(result.error());
      parsed.emplace(name, *std::move(result));
    }
    const auto text = parsed.at(name).render_as_given(conversation_of(expected["conversation"]));
    if (expected.contains("text")) {
      ASSERT_TRUE(text) << to_string(text.error()) << "\n" << line;
      ASSERT_EQ(*text, expected["text"].get<std::string>()) << line;
    } else {
      ASSERT_FALSE(text) << line;
      ASSERT_EQ(text.error().code, Code::invalid_argument);
      ASSERT_EQ(text.error().why, expected["refused"].get<std::string>()) << line;
      ++num_refused;
    }
  }
  EXPECT_GE(num_cases, 200u);
  EXPECT_GE(num_refused, 10u);
}

// The template that the bundled model carries, as its GGUF file has it.
TEST(BundledModel, ItsTemplateRendersChatMl) {
  const std::string source =
      "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' + "
      "message['content'] + '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- "
      "'<|im_start|>assistant\\n' }}{%- endif %}";
  const auto parsed = ChatTemplate::parse(source, {});
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  Conversation conversation;
  conversation.messages = Json::parse(R"([{"role": "system", "content": "Be kind."},
                                          {"role": "user", "content": "Tell me a story."}])");
  EXPECT_EQ(parsed->render(conversation).value(),
            "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nTell me a story.<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(Capabilities, AreFoundByRendering) {
  const auto chatml = ChatTemplate::parse(own_template("chatml_tools.jinja"), {});
  ASSERT_TRUE(chatml) << to_string(chatml.error());
  EXPECT_TRUE(chatml->capabilities().tools);
  EXPECT_TRUE(chatml->capabilities().tool_calls);
  EXPECT_TRUE(chatml->capabilities().tool_results);
  EXPECT_TRUE(chatml->capabilities().system_role);
  EXPECT_TRUE(chatml->capabilities().enable_thinking);
  EXPECT_TRUE(chatml->capabilities().reasoning);
  EXPECT_FALSE(chatml->capabilities().arguments_as_text);
  EXPECT_FALSE(chatml->capabilities().null_content);
  EXPECT_FALSE(chatml->capabilities().content_parts);
  EXPECT_FALSE(chatml->capabilities().opens_thinking);

  const auto fences = ChatTemplate::parse(own_template("tool_fences.jinja"), {});
  ASSERT_TRUE(fences) << to_string(fences.error());
  EXPECT_TRUE(fences->capabilities().tool_calls);
  EXPECT_TRUE(fences->capabilities().arguments_as_text);
  EXPECT_TRUE(fences->capabilities().null_content);
  EXPECT_FALSE(fences->capabilities().tools);
  EXPECT_FALSE(fences->capabilities().enable_thinking);

  const auto marks = ChatTemplate::parse(own_template("turn_marks.jinja"), {});
  ASSERT_TRUE(marks) << to_string(marks.error());
  EXPECT_TRUE(marks->capabilities().content_parts);
  EXPECT_FALSE(marks->capabilities().tool_calls);
}

TEST(Capabilities, APromptThatOpensThinkingIsNoticed) {
  const auto parsed = ChatTemplate::parse(
      "{{ messages[0].content }}{% if enable_thinking is defined and not enable_thinking %}"
      "<think></think>{% else %}<think>\n{% endif %}",
      {});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->capabilities().enable_thinking);
  EXPECT_TRUE(parsed->capabilities().opens_thinking);
  EXPECT_FALSE(parsed->capabilities().opens_thinking_when_disabled);
}

// What an OpenAI client sends: arguments as text, null content beside calls, lists of parts.
TEST(Render, BringsAConversationIntoTheShapeThatTheTemplateReads) {
  Conversation conversation;
  conversation.messages = Json::parse(R"([
      {"role": "user", "content": [{"type": "text", "text": "How "}, {"type": "text", "text": "warm?"}]},
      {"role": "assistant", "content": null, "tool_calls": [
          {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"b\":1,\"a\":2}"}}]}])");
  conversation.add_generation_prompt = false;
  const auto chatml = ChatTemplate::parse(own_template("chatml_tools.jinja"), {});
  ASSERT_TRUE(chatml);
  EXPECT_EQ(shown(chatml->render(conversation)),
            "<|im_start|>user\nHow warm?<|im_end|>\n<|im_start|>assistant\n"
            "<tool_call>{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": 2}}</tool_call>"
            "<|im_end|>\n");
  conversation.messages[1]["tool_calls"][0]["function"]["arguments"] = {{"b", 1}};
  const auto fences = ChatTemplate::parse(own_template("tool_fences.jinja"), {});
  ASSERT_TRUE(fences);
  EXPECT_EQ(shown(fences->render(conversation)),
            "<|user|>How warm?<|assistant|><|calls|><|call|>function<|sep|>f\n```json\n{\"b\":1}\n"
            "```<|call_end|><|calls_end|>");
}

TEST(TemplateFor, PrefersTheModelsOwnAndKnowsTheFamilies) {
  Conversation conversation;
  conversation.messages = Json::parse(R"([{"role": "user", "content": "Hi"}])");
  const SpecialTexts special = special_texts();
  const auto prompt = [&](const std::optional<std::string>& own, std::string_view family) {
    const auto parsed = template_for(own, family, special);
    return parsed ? shown(parsed->render(conversation)) : to_string(parsed.error());
  };
  EXPECT_EQ(prompt("{{ messages[0].content }}!", "qwen3"), "Hi!");
  EXPECT_EQ(prompt(std::nullopt, "qwen35"),
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(prompt("", "something"), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(prompt(std::nullopt, "llama-bpe"),
            "<s><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(prompt(std::nullopt, "llama"), "<s>[INST] Hi [/INST]");
  EXPECT_EQ(prompt(std::nullopt, "gemma3"),
            "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
}

}  // namespace
}  // namespace evener::chat
