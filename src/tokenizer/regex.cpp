#include "tokenizer/regex.h"

#include <fmt/format.h>

#include <array>
#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace evener::tokenizer {
namespace {

// PCRE2's own \s also has U+180E, which Unicode took out of White_Space in version 6.3.
constexpr std::string_view kSpaces = R"(\p{Z}\t-\r\x{85})";

// `pattern` with \s and \S replaced by explicit classes. \S must not stand inside a class.
std::string with_unicode_spaces(std::string_view pattern) {
  std::string result;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      result += c;
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      result += in_class ? std::string(kSpaces) : fmt::format("[{}]", kSpaces);
    } else if (escaped == 'S') {
      result += fmt::format("[^{}]", kSpaces);
    } else {
      result += {c, escaped};
    }
  }
  return result;
}

PCRE2_SPTR code_units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data() != nullptr ? text.data() : "");
}

Error compile_error(std::string_view pattern, int number, size_t offset) {
  std::array<PCRE2_UCHAR, 200> message{};
  pcre2_get_error_message(number, message.data(), message.size());
  return {.code = Code::internal,
          .doing = "compile a pre-tokenizer",
          .where = fmt::format("pattern {}, offset {}", pattern, offset),
          .why = reinterpret_cast<const char*>(message.data()),
          .remedy = {}};
}

}  // namespace

Regex::Scratch::Scratch()
    : context_(pcre2_match_context_create(nullptr)), data_(pcre2_match_data_create(1, nullptr)) {}

Regex::Scratch::~Scratch() {
  pcre2_match_data_free(data_);
  pcre2_match_context_free(context_);
}

void Regex::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Result<Regex> Regex::compile(std::string_view pattern, uint32_t steps_max) {
  const std::string expanded = with_unicode_spaces(pattern);
  int number = 0;
  size_t offset = 0;
  pcre2_code* code =
      pcre2_compile(code_units(expanded), expanded.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NO_AUTO_CAPTURE, &number, &offset, nullptr);
  if (code == nullptr) return compile_error(expanded, number, offset);
  Regex regex(code, steps_max);
  // Without JIT (an unusual processor, a kernel that forbids it) matching works, only slower.
  (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return regex;
}

std::optional<Regex::Match> Regex::find(std::string_view text, size_t offset,
                                        Scratch& scratch) const {
  if (scratch.data_ == nullptr || scratch.context_ == nullptr) return {};
  pcre2_set_match_limit(scratch.context_, steps_max_);
  const int count = pcre2_match(code_.get(), code_units(text), text.size(), offset,
                                PCRE2_NO_UTF_CHECK, scratch.data_, scratch.context_);
  if (count <= 0) return {};
  const size_t* ends = pcre2_get_ovector_pointer(scratch.data_);
  return Match{.begin = ends[0], .end = ends[1]};
}

}  // namespace evener::tokenizer
