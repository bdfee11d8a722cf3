#include "tokenizer/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <memory>

#include "base/utf8.h"

namespace evener::tokenizer {
namespace {

utf8proc_option_t options_of(NormalForm form) {
  int options = UTF8PROC_STABLE;
  const bool composed = form == NormalForm::nfc || form == NormalForm::nfkc;
  options |= composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(options);
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

void append_valid(std::string& out, std::string_view text, NormalForm form) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &mapped, options_of(form));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(mapped);
  if (size < 0) {  // out of memory: better as it is than not at all
    out += text;
    return;
  }
  out.append(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

// Bytes of `text` up to the first that is not part of well-formed UTF-8.
size_t valid_prefix(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    const utf8::Decoded decoded = utf8::decode(text, end);
    if (!decoded.valid) break;
    end += decoded.num_bytes;
  }
  return end;
}

}  // namespace

std::string to_normal_form(std::string_view text, NormalForm form) {
  const bool ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
  if (ascii) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = valid_prefix(text);
    if (valid > 0) append_valid(out, text.substr(0, valid), form);
    text.remove_prefix(valid);
    if (!text.empty()) {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace evener::tokenizer
