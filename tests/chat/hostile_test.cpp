// Templates and conversations that mean harm: each must end with a clear error, soon and within its
// budget. Method: the whole message is compared where it is short.

#include <gtest/gtest.h>

#include "chat/rendering.h"

namespace evener::chat {
namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Hostile, EndlessWorkStopsAtTheStepBudget) {
  EXPECT_EQ(shown(rendered("{% for a in range(9999) %}\n{% for b in range(9999) %}{% endfor %}"
                           "{% endfor %}")),
            "limit chat template, line 2: the template did not end within 5000000 steps");
}

TEST(Hostile, DeepRecursionStops) {
  EXPECT_EQ(shown(rendered("{% macro f() %}{{ f() }}{% endmacro %}\n{{ f() }}")),
            "limit chat template, line 1: the template calls itself or nests deeper than 500");
}

TEST(Hostile, HugeTextsAndListsAreRefusedBeforeTheyAreMade) {
  EXPECT_EQ(shown(rendered("{{ range(10**9) }}")),
            "limit chat template, line 1: a list would have 1000000000 elements, at most 1048576 "
            "are allowed");
  for (const char* source :
       {"{{ 'a' * 10**9 }}",
        "{{ [1] * 10**9 }}",
        "{{ 'a' * 10**18 }}",
        "{{ [1, 2] * 10**18 }}",
        "{{ range(-9223372036854775807, 9223372036854775807) }}",
        "{{ 'x'.center(10**12) }}",
        "{{ 'x' | center(10**12) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '%.999999999f' % 1.5 }}",
        "{{ 'a\\nb' | indent(10**12) }}",
        "{{ [[1]] | tojson(indent=10**12) }}",
        "{{ [1] | batch(10**12, 0) }}",
        "{{ 1.5 | round(10**9) }}",
        "{{ '%99999999999999999s' % 1 }}",
        "{% set ns = namespace(x='abcdefgh') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}"
        "{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}"
        "{% endfor %}",
        "{% for i in range(1000000) %}{{ 'a' * 1000 }}{% endfor %}",
        "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}"
        "{% set ns.x = [ns.x, ns.x] %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}"
        "{% endfor %}{{ ns.x }}",
        "{{ 'a' * 60000000 ~ 'a' * 60000000 }}",
        "{% set l = ['a' * 60000000, 'b' * 60000000, 'c' * 60000000, 'd' * 60000000, "
        "'e' * 60000000] %}",
        "{{ ('a' * 60000000).replace('a', 'bb') }}"}) {
    const auto result = rendered(source);
    ASSERT_FALSE(result) << source;
    EXPECT_EQ(result.error().code, Code::limit_exceeded) << source << shown(result);
    EXPECT_EQ(result.error().where, "chat template, line 1") << source;
  }
}

TEST(Hostile, NumbersDoNotWrapAround) {
  EXPECT_EQ(shown(rendered("{{ 9223372036854775807 + 1 }}")),
            "refused chat template, line 1: a number leaves the range of 64-bit integers");
  for (const char* source :
       {"{{ 10**19 }}", "{{ 9223372036854775807 * 2 }}", "{{ -9223372036854775807 - 2 }}",
        "{{ 1 // 0 }}", "{{ 1 % 0 }}", "{{ 1 / 0 }}", "{{ 1.5 % 0 }}", "{{ 0 ** -1 }}",
        "{{ 4 is divisibleby 0 }}", "{{ range(1, 5, 0) }}", "{{ [1][::0] }}",
        "{{ (-9223372036854775807 - 1) // -1 }}", "{{ -(-9223372036854775807 - 1) }}",
        "{{ (-9223372036854775807 - 1) | abs }}"}) {
    const auto result = rendered(source);
    ASSERT_FALSE(result) << source << *result;
    EXPECT_EQ(result.error().code, Code::invalid_argument) << source;
  }
  EXPECT_EQ(shown(rendered("{{ (-9223372036854775807 - 1) % -1 }}")), "0");
  EXPECT_EQ(shown(rendered("{{ [1, 2, 3][::9223372036854775807] }}")), "[1]");
  EXPECT_EQ(shown(rendered("{{ [1, 2, 3][9223372036854775807:] }}")), "[]");
  EXPECT_EQ(shown(rendered("{{ range(5)[-9223372036854775807] }}")), "");
  EXPECT_EQ(shown(rendered("{{ 1e308 * 10 | int }} {{ (1e308 * 10) | int }}")), "inf 0");
}

TEST(Hostile, OversizedAndDeeplyNestedTemplatesAreNotParsed) {
  EXPECT_EQ(shown(rendered(std::string(10 << 20, 'x'))),
            "limit chat template, line 1: the template has 10485760 bytes, at most 1048576 are "
            "read");
  const std::pair<const char*, const char*> brackets[] = {
      {"(", ")"},           {"[", "]"},  {"{1:", "}"}, {"not ", ""},      {"-", ""},
      {"1 if 1 else ", ""}, {"x[", "]"}, {"x(", ")"},  {"x is in [", "]"}};
  for (const auto& [open, close] : brackets) {
    const auto result =
        rendered("{{ " + repeated(open, 5000) + "1" + repeated(close, 5000) + " }}");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::limit_exceeded) << open << shown(result);
  }
  for (const char* open : {"{% if 1 %}", "{% for x in y %}", "{% filter upper %}", "{% set x %}"}) {
    EXPECT_EQ(rendered(repeated(open, 5000)).error().code, Code::limit_exceeded) << open;
  }
  EXPECT_EQ(rendered("{{ " + repeated("1 + ", 5000) + "1 }}").error().code, Code::limit_exceeded);
  EXPECT_EQ(rendered("{{ x" + repeated(".y", 5000) + " }}").error().code, Code::limit_exceeded);
  EXPECT_EQ(rendered(repeated("{{ 1 }}", 100'000)).error().code, Code::limit_exceeded);
}

TEST(Hostile, BrokenTemplatesSayWhere) {
  EXPECT_EQ(shown(rendered("a\n{% if x %}\nb")),
            "syntax chat template, line 2: the block that begins here is never closed with {% "
            "endif %}");
  EXPECT_EQ(shown(rendered("a\n\n{{ x")), "syntax chat template, line 3: {{ is never closed");
  EXPECT_EQ(shown(rendered("{# x")), "syntax chat template, line 1: a comment {# is never closed");
  EXPECT_EQ(shown(rendered("{% raw %}")),
            "syntax chat template, line 1: {% raw %} is never closed");
  EXPECT_EQ(shown(rendered("{{ 'x }}")), "syntax chat template, line 1: a string is never closed");
  EXPECT_EQ(shown(rendered("\n{% endif %}")),
            "syntax chat template, line 2: there is no tag {% endif %} that could stand here");
  EXPECT_EQ(shown(rendered("{{ (1] }}")), "syntax chat template, line 1: unexpected ']'");
  EXPECT_EQ(shown(rendered("{{ 1 + }}")),
            "syntax chat template, line 1: '}}' stands where a value is due");
  EXPECT_EQ(shown(rendered("{% include 'x' %}")),
            "unsupported chat template, line 1: {% include %} is not available here");
  for (const char* source : {"{{ }}",
                             "{% %}",
                             "{%",
                             "{{",
                             "{% for %}{% endfor %}",
                             "{% set %}",
                             "{% if %}{% endif %}",
                             "{% macro %}{% endmacro %}",
                             "{% macro f(a, a) %}{% endmacro %}",
                             "{% break %}",
                             "{% macro f(a=1, b) %}{% endmacro %}",
                             "{{ f(a=1, 2) }}",
                             "{{ f(**a, b) }}",
                             "{{ a b }}",
                             "{% call x %}{% endcall %}",
                             "{% set true = 1 %}",
                             "{{ '\\x1' }}",
                             "{{ '\\ud800' }}",
                             "{{ $ }}",
                             "{{ a. }}",
                             "{{ a | }}",
                             "{{ a is }}",
                             "{{ {1} }}",
                             "{% for x in y %}"}) {
    const auto result = rendered(source);
    ASSERT_FALSE(result) << source;
    EXPECT_EQ(result.error().code, Code::corrupt) << source << shown(result);
  }
  EXPECT_EQ(rendered("{{ 99999999999999999999 }}").error().code, Code::limit_exceeded);
}

TEST(Hostile, WhatDoesNotExistHereIsNamed) {
  EXPECT_EQ(shown(rendered("{{ 1 | nosuch }}")),
            "unsupported chat template, line 1: there is no filter 'nosuch'");
  EXPECT_EQ(shown(rendered("{{ 1 is nosuch }}")),
            "unsupported chat template, line 1: there is no test 'nosuch'");
  EXPECT_EQ(shown(rendered("{{ ''.nosuch() }}")),
            "unsupported chat template, line 1: there is no method str.nosuch()");
  EXPECT_EQ(shown(rendered("{{ [].append(1) }}")),
            "unsupported chat template, line 1: list.append() would change a value; join lists "
            "with +");
  EXPECT_EQ(shown(rendered("{{ ''.__class__.__mro__ }}")),
            "refused chat template, line 1: '__class__' is undefined");
}

TEST(Hostile, SelfReferenceNeitherLoopsNorLeaks) {
  EXPECT_EQ(shown(rendered("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}")),
            "<Namespace of 1>");
  EXPECT_EQ(shown(rendered("{% set ns = namespace() %}{% set ns.l = [ns] %}{{ ns.l == ns.l }}"
                           "{{ ns.l[0].l[0].l | length }}")),
            "True1");
  EXPECT_EQ(shown(rendered("{% macro f() %}{% set g = f %}{% macro h() %}{{ g }}{% endmacro %}x"
                           "{% endmacro %}{% set a = f %}{{ f() }}{{ a() }}")),
            "xx");
  EXPECT_EQ(shown(rendered("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns | tojson }}")),
            "refused chat template, line 1: a value of type Namespace cannot be written as JSON");
}

TEST(Hostile, ConversationsOfWrongTypesAreRefusedWithTheLine) {
  const auto parsed = ChatTemplate::parse(
      "{% for m in messages %}\n{{ m.role + ': ' + m.content }}\n{% endfor %}", {});
  ASSERT_TRUE(parsed);
  const auto answer = [&](const char* messages) {
    Conversation conversation;
    conversation.messages = Json::parse(messages);
    return shown(parsed->render(conversation));
  };
  EXPECT_EQ(answer("5"), "refused messages: is not an array");
  EXPECT_EQ(answer("[5]"), "refused messages[0]: is not an object");
  EXPECT_EQ(answer(R"([{"role": "user"}])"),
            "refused chat template, line 2: 'content' is undefined");
  EXPECT_EQ(answer(R"([{"role": "user", "content": 5}])"),
            "refused chat template, line 2: + does not work between str and int");
  EXPECT_EQ(answer(R"([{"role": [], "content": "x"}])"),
            "refused chat template, line 2: + does not work between list and str");
  Conversation conversation;
  conversation.tools = 5;
  EXPECT_EQ(shown(parsed->render(conversation)), "refused tools: is not an array");
  conversation.tools = nullptr;
  conversation.extra = {{"messages", 1}};
  EXPECT_EQ(shown(parsed->render(conversation)),
            "refused chat_template_kwargs.messages: has a field of its own in the request");
}

TEST(Hostile, ADeepConversationIsRefused) {
  Json deep = Json::array();
  for (int i = 0; i < 1000; ++i) deep = Json::array({std::move(deep)});
  EXPECT_EQ(rendered("{{ x }}", {{"x", deep}}).error().code, Code::limit_exceeded);
}

// One request's budget is not another's: the template goes on to work.
TEST(Hostile, AnExhaustedRenderingLeavesTheTemplateIntact) {
  const auto parsed = ChatTemplate::parse(
      "{% for i in range(n) %}{% for j in range(n) %}{% endfor %}{% endfor %}ok", {});
  ASSERT_TRUE(parsed);
  Conversation conversation;
  conversation.extra = {{"n", 100'000}};
  EXPECT_EQ(parsed->render(conversation).error().code, Code::limit_exceeded);
  conversation.extra = {{"n", 2}};
  EXPECT_EQ(shown(parsed->render(conversation)), "ok");
}

}  // namespace
}  // namespace evener::chat
