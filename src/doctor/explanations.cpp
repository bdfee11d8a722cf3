#include "doctor/explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "doctor/fixes.h"
#include "doctor/text_sections.h"

namespace evener::doctor {
namespace {

std::string upper(std::string_view id) {
  std::string result(id);
  for (char& c : result) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return result;
}

void add_part(std::string_view label, std::string_view text, TextPage& page) {
  if (text.empty()) return;
  const std::string first = fmt::format("  {:<8}", label);
  const std::vector<Span> spans = {{.text = std::string(text), .tone = Tone::plain}};
  page.paragraph(first, std::string(first.size(), ' '), spans);
}

void add_head(std::string_view id, std::string_view title, TextPage& page) {
  const std::vector<Span> head = {{.text = std::string(id), .tone = Tone::strong},
                                  {.text = fmt::format(": {}", title), .tone = Tone::plain}};
  page.paragraph("", "  ", head);
}

void add_fix(const Fix& fix, TextPage& page) {
  add_head(fix.id, fix.action, page);
  add_part("risk", to_string(fix.risk), page);
  add_part("undo", fix.undo, page);
  add_part("check", fix.verify, page);
  if (!fix.command.empty()) page.verbatim("          ", fix.command);
}

void add_rule(const Explanation& rule, TextPage& page) {
  add_head(rule.rule, rule.title, page);
  add_part("when", rule.when, page);
  add_part("why", rule.why, page);
  add_part("look at", rule.look, page);
  std::string_view ids = rule.fixes;
  while (!ids.empty()) {
    const size_t end = std::min(ids.find(' '), ids.size());
    if (const Fix* fix = find_fix(ids.substr(0, end))) {
      page.blank();
      add_fix(*fix, page);
    }
    ids.remove_prefix(std::min(end + 1, ids.size()));
  }
}

Error unknown_id(std::string_view id) {
  std::string ids;
  const auto add = [&ids](std::string_view each) {
    ids += fmt::format("{}{}", ids.empty() ? "" : " ", each);
  };
  for (const auto& rules : {explanations_of_facts(), explanations_of_routes()}) {
    for (const Explanation& rule : rules) add(rule.rule);
  }
  for (const Fix& fix : all_fixes()) add(fix.id);
  return {.code = Code::not_found,
          .doing = "explain",
          .where = fmt::format("'{}'", printable(id, 40)),
          .why = "there is no such rule or fix",
          .remedy = "there are " + ids};
}

}  // namespace

const Explanation* find_explanation(std::string_view rule) {
  for (const auto& rules : {explanations_of_facts(), explanations_of_routes()}) {
    const auto found = std::ranges::find(rules, rule, &Explanation::rule);
    if (found != rules.end()) return &*found;
  }
  return nullptr;
}

Result<std::string> explain(std::string_view id, const TextStyle& style) {
  const std::string wanted = upper(id.substr(0, 8));
  TextPage page(style);
  if (const Explanation* rule = find_explanation(wanted)) {
    add_rule(*rule, page);
  } else if (const Fix* fix = find_fix(wanted)) {
    add_fix(*fix, page);
  } else {
    return unknown_id(id);
  }
  return page.take();
}

}  // namespace evener::doctor
