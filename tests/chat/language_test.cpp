// The template language, construct by construct. The expected texts are those of Jinja 3.1 (Python)
// set up as Hugging Face does, noted down when this was written.

#include <gtest/gtest.h>

#include "chat/rendering.h"

namespace evener::chat {
namespace {

struct Case {
  const char* source;
  const char* expected;
};

void check(std::initializer_list<Case> cases) {
  const Json variables = Json::parse(R"({
      "s": "Hello, World é中😀 ", "n": 7, "f": 2.5, "l": [3, 1, 2], "d": {"b": 1, "a": 2, "C": 3},
      "words": ["b", "A", "c", "a"], "t": true, "z": null, "e": "",
      "objs": [{"n": "x", "v": 2, "g": {"k": "q"}}, {"n": "y", "v": 1}, {"n": "x", "v": 3}],
      "p": {"items": 1}})");
  for (const Case& c : cases) {
    EXPECT_EQ(shown(rendered(c.source, variables)), c.expected) << c.source;
  }
}

TEST(Language, ValuesPrintAsInPython) {
  check(
      {{"{{ n }} {{ f }} {{ t }} {{ z }} {{ nothing }}", "7 2.5 True None "},
       {"{{ l }}{{ d }}", "[3, 1, 2]{'b': 1, 'a': 2, 'C': 3}"},
       {"{{ [\"it's\", 'q\"', 'b\"\\'', '\\n\\t\\\\é'] }}", R"(["it's", 'q"', 'b"\'', '\n\t\\é'])"},
       {"{{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1.0 }} {{ 1/3 }} {{ 1e22 }}",
        "1e+16 1000000000000000.0 0.0001 1e-05 1.0 0.3333333333333333 1e+22"},
       {"{{ () }}{{ (1,) }}{{ 1, 2 }}{{ {1: 'a', none: 2} }}", "()(1,)(1, 2){1: 'a', None: 2}"}});
}

TEST(Language, ArithmeticIsPythons) {
  check({{"{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }}",
          "3 -4 2 3.5 3.0 0.5"},
         {"{{ 2 ** 3 ** 2 }} {{ 2 ** -1 }} {{ 10 ** 18 }} {{ true + 1 }}",
          "64 0.5 1000000000000000000 2"},
         {"{{ 'a' ~ 1 ~ none ~ true ~ 1.5 ~ [1] }} {{ 'x' * 3 }} {{ [1] * 2 + [2] }}",
          "a1NoneTrue1.5[1] xxx [1, 1, 2]"},
         {"{{ -n | abs }} {{ - -n }} {{ n -1 }} {{ 0x1F }} {{ 1_000 }} {{ 1.5e3 }}",
          "7 7 6 31 1000 1500.0"},
         {"{{ '%s=%d|%05.2f|%-5s|%5s|%x|%%' | format('a', 3, 2.5, 'b', 'c', 255) }}",
          "a=3|02.50|b    |    c|ff|%"},
         {"{{ '%s-%s' % ('a', 1) }} {{ '%(a)s' % {'a': 5} }}", "a-1 5"}});
}

TEST(Language, ComparisonsChainAndLogicKeepsItsOperands) {
  check(
      {{"{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ (1, 2) == [1, 2] }} {{ 'b' > 'a' }}",
        "True False True False True"},
       {"{{ 'a' in 'abc' }} {{ 4 not in l }} {{ 'a' in d }} {{ not 1 in [2] }} {{ 1 in nothing }}",
        "True True True True False"},
       {"{{ t and n }} {{ z or 'x' }} {{ e or z }} {{ not e }} {{ 'yes' if not t }}|",
        "7 x None True |"},
       {"{{ 'a' if not t else 'b' if n == 8 else 'c' }}", "c"}});
}

TEST(Language, IndexesAndSlicesCountCharacters) {
  check(
      {{"{{ s[13] }} {{ s[-2] }} {{ s[1:4] }} {{ s[::-1] }} {{ s | length }}",
        "é 😀 ell  😀中é dlroW ,olleH 17"},
       {"{{ l[::-1] }} {{ l[-1] }} {{ l[5] }} {{ l[10:] }} {{ l[-10:2] }} {{ l[2:0:-1] }}",
        "[2, 1, 3] 2  [] [3, 1] [2, 1]"},
       {"{{ objs.0.n }} {{ objs[-1]['v'] }} {{ d.nope }}|{{ z.foo }}|{{ p['items'] }}", "x 3 ||1"},
       {"{{ nothing.x }}", "refused chat template, line 1: 'nothing' is undefined"}});
}

TEST(Language, StringMethodsAreThere) {
  check(
      {{"{{ 'a b  c'.split(None, 1) }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }}",
        "['a', 'b  c'] ['a', 'b,c'] ['a,b', 'c']"},
       {"{{ '\\n x\\n'.strip('\\n') }}|{{ 'xxaxx'.lstrip('x') }} {{ 'abc'.rstrip('cb') }}",
        " x|axx a"},
       {"{{ 'éÀ'.upper() }} {{ 'ÉÀ'.lower() }} {{ \"they're\".title() }} {{ \"they're\" | title }}",
        "ÉÀ éà They'Re They're"},
       {"{{ 'aXbX'.replace('X', '-', 1) }} {{ 'ab'.replace('', '-') }} {{ 'é中x'.find('x') }}",
        "a-bX -a-b- 2"},
       {"{{ 'abc'.startswith(('x', 'a')) }} {{ 'a-b-c'.partition('-') }} {{ 'xy'.center(5, '*') }}",
        "True ('a', '-', 'b-c') **xy*"},
       {"{{ 'a\\nb\\r\\nc'.splitlines() }} {{ '12'.isdigit() }} {{ ','.join(['a', 'b']) }}",
        "['a', 'b', 'c'] True a,b"}});
}

TEST(Language, FiltersAreThere) {
  check(
      {{"{{ l | sort }} {{ words | sort }} {{ words | sort(case_sensitive=true) }}",
        "[1, 2, 3] ['A', 'a', 'b', 'c'] ['A', 'a', 'b', 'c']"},
       {"{{ words | unique | list }} {{ l | sum }} {{ l | max }} {{ l | join('-') }}",
        "['b', 'A', 'c'] 6 3 3-1-2"},
       {"{{ objs | map(attribute='g.k', default='D') | list }} {{ words | map('upper') | list }}",
        "['q', 'D', 'D'] ['B', 'A', 'C', 'A']"},
       {"{{ objs | selectattr('n', 'equalto', 'x') | map(attribute='v') | list }}", "[2, 3]"},
       {"{{ objs | rejectattr('g') | list | length }} {{ [1, 2, 3] | select('gt', 1) | list }}",
        "2 [2, 3]"},
       {"{{ objs | sort(attribute='n,v', reverse=true) | map(attribute='v') | list }}",
        "[1, 3, 2]"},
       {"{{ d | dictsort }} {{ d | items | first }}", "[('a', 2), ('b', 1), ('C', 3)] ('b', 1)"},
       {"{{ nothing | default('D') }} {{ '' | default('D') }}|{{ '' | d('D', true) }}", "D |D"},
       {"{{ '12' | int }} {{ 'x' | int(5) }} {{ -3.9 | int }} {{ '1f' | int(base=16) }}",
        "12 5 -3 31"},
       {"{{ 2.5 | round }} {{ 2.675 | round(2) }} {{ 2.1 | round(method='ceil') }}",
        "2.0 2.67 3.0"},
       {"{{ 'a\\nb\\n\\nc' | indent(2, true) }}|{{ 'a\\nb' | indent('>>') }}",
        "  a\n  b\n\n  c|a\n>>b"},
       {"{{ [1, 2, 3] | batch(2, 'x') | list }} {{ '<a>' | e }}", "[[1, 2], [3, 'x']] &lt;a&gt;"}});
}

TEST(Language, TojsonKeepsOrderAndLetters) {
  check({{"{{ d | tojson }}", R"({"b": 1, "a": 2, "C": 3})"},
         {"{{ 'é\"\\n<>&\\u0001' | tojson }}", R"("é\"\n<>&\u0001")"},
         {"{{ 'é😀' | tojson(ensure_ascii=true) }}", R"("\u00e9\ud83d\ude00")"},
         {"{{ {'b': [], 'a': {'x': [1, none]}} | tojson(indent=2, sort_keys=true) }}",
          "{\n  \"a\": {\n    \"x\": [\n      1,\n      null\n    ]\n  },\n  \"b\": []\n}"},
         {"{{ [1.0, 1e20, true] | tojson(separators=(',', ':')) }}", "[1.0,1e+20,true]"}});
}

TEST(Language, TestsAreThere) {
  check(
      {{"{{ n is defined }} {{ nothing is undefined }} {{ z is none }} {{ n is not none }}",
        "True True True True"},
       {"{{ t is integer }} {{ t is number }} {{ d is mapping }} {{ d is iterable }}",
        "False True True True"},
       {"{{ n is odd }} {{ n is divisibleby 7 }} {{ n is eq 7 }} {{ n is in [7] }} {{ 1 is true }}",
        "True True True True False"},
       {"{{ n is odd and t }} {{ z is none or x.y }} {{ not n is odd }}", "True True False"}});
}

TEST(Language, LoopsCountFilterAndStop) {
  check({{"{% for x in l %}{{ loop.index }}/{{ loop.length }}{{ x }}{{ loop.last }};{% endfor %}",
          "1/33False;2/31False;3/32True;"},
         {"{% for k, v in d.items() %}{{ k }}={{ v }},{% endfor %}", "b=1,a=2,C=3,"},
         {"{% for x in l if x > 1 %}{{ loop.index }}:{{ x }} {% endfor %}", "1:3 2:2 "},
         {"{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}"
          "{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}",
          "0134"},
         {"{% for x in [] %}x{% else %}none{% endfor %}{% for c in 'né' %}[{{ c }}]{% endfor %}",
          "none[n][é]"},
         {"{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "123"},
         {"{% for a, b in [(1, 2, 3)] %}{% endfor %}",
          "refused chat template, line 1: 3 values cannot be assigned to 2 names"}});
}

TEST(Language, VariablesStayInTheirScope) {
  check(
      {{"{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}", "231"},
       {"{% set ns = namespace(x=1) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}"
        "{{ ns.x }}{{ ns.nope }}",
        "4"},
       {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c | trim | upper %} hi {% endset %}[{{ c }}]",
        "12[HI]"},
       {"{% with q = 5 %}{{ q }}{% endwith %}{{ q }}{% generation %}{% set i = 1 %}g"
        "{% endgeneration %}{{ i }}",
        "5g"},
       {"{% set d.x = 1 %}",
        "refused chat template, line 1: 'd' is no namespace, so 'd.x' cannot be set"}});
}

TEST(Language, MacrosTakeDefaultsNamesAndCallers) {
  check(
      {{"{% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }};{% endmacro %}{{ m(1) }}"
        "{{ m(b=5, a=0) }}{{ m() }}",
        "1-2-1;0-5-0;-2-;"},
       {"{% macro v(x) %}{{ x }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ v(1, 2, k=4) }}"
        "{{ v(*[1, 2], **{'q': 1}) }}",
        "1(2,){'k': 4}1(2,){'q': 1}"},
       {"{% macro w(t) %}<{{ t }}>{{ caller(t) }}{% endmacro %}{% call(y) w('b') %}({{ y }}{{ n }})"
        "{% endcall %}",
        "<b>(b7)"},
       {"{% macro f(n) %}{{ 1 if n <= 1 else n * (f(n - 1) | int) }}{% endmacro %}{{ f(10) }}",
        "3628800"},
       {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
        "refused chat template, line 1: macro 'm' takes not more than 1 argument(s)"},
       {"{% filter trim | replace('a', 'b') %} aaa {% endfilter %}", "bbb"}});
}

TEST(Language, WhitespaceControlIsThatOfTrimBlocksAndLstripBlocks) {
  check({{"   {% if t %}\n   x\n   {%- endif %}\n y\n", "   x y"},
         {"  {%+ if t %} z {% endif +%}\nw {#- c -#}  v\n  {# c #}\nu", "   z \nwv\nu"},
         {"a  {{- 1 -}}  b {{ 2 }}\n", "a1b 2"},
         {"{% raw %}{{ not }} {% x %}{% endraw %}\nx\r\ny\r", "{{ not }} {% x %}x\ny"},
         {"{{ 'a' 'b' }}{{ '\\x41\\u00e9\\101\\q' }}{{ {'a': {'b': 1}}}}",
          "abAéA\\q{'a': {'b': 1}}"}});
}

TEST(Language, TheTimeIsGivenByTheCaller) {
  check({{"{{ strftime_now('%d %b %Y %H:%M:%S %A %B %j %y %p %I %-d %F %%') }}",
          "05 Mar 2026 17:04:09 Thursday March 064 26 PM 05 5 2026-03-05 %"}});
}

TEST(Language, RaiseExceptionPassesItsMessageOn) {
  check({{"a\n{{ raise_exception('Roles must alternate: ' ~ n) }}",
          "refused chat template, line 2: Roles must alternate: 7"}});
}

}  // namespace
}  // namespace evener::chat
