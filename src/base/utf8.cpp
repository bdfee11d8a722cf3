#include "base/utf8.h"

#include <algorithm>

namespace evener::utf8 {
namespace {

struct Lead {
  size_t num_bytes;          // 0: cannot start a sequence
  unsigned char second_min;  // allowed range of the second byte: excludes overlong forms,
  unsigned char second_max;  // surrogates and values above U+10FFFF (Unicode, table 3-7)
};

Lead classify(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

unsigned char byte_at(std::string_view text, size_t index) {
  return static_cast<unsigned char>(text[index]);
}

// How many bytes from `offset` on agree with a well-formed sequence (at least 1 for a valid lead).
size_t matching_bytes(std::string_view text, size_t offset, Lead lead) {
  size_t count = 1;
  while (count < lead.num_bytes && offset + count < text.size()) {
    const unsigned char byte = byte_at(text, offset + count);
    const bool fits =
        count == 1 ? byte >= lead.second_min && byte <= lead.second_max : (byte & 0xc0) == 0x80;
    if (!fits) break;
    ++count;
  }
  return count;
}

}  // namespace

Decoded decode(std::string_view text, size_t offset) {
  if (offset >= text.size()) return {};
  const unsigned char first = byte_at(text, offset);
  const Lead lead = classify(first);
  if (lead.num_bytes == 1) return {first, 1, true};
  if (lead.num_bytes == 0 || matching_bytes(text, offset, lead) < lead.num_bytes)
    return {0xfffd, 1, false};
  char32_t value = first & (0xffu >> (lead.num_bytes + 1));
  for (size_t i = 1; i < lead.num_bytes; ++i)
    value = (value << 6) | (byte_at(text, offset + i) & 0x3fu);
  return {value, lead.num_bytes, true};
}

void append(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3f));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

bool is_valid(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    const Decoded decoded = decode(text, offset);
    if (!decoded.valid) return false;
    offset += decoded.num_bytes;
  }
  return true;
}

std::string replace_invalid(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const Decoded decoded = decode(text, offset);
    append(out, decoded.code_point);
    offset += decoded.num_bytes;
  }
  return out;
}

size_t complete_prefix(std::string_view text) {
  const size_t window = std::min<size_t>(3, text.size());  // an open sequence has at most 3 bytes
  for (size_t offset = text.size() - window; offset < text.size(); ++offset) {
    const Lead lead = classify(byte_at(text, offset));
    if (lead.num_bytes < 2) continue;
    const size_t matched = matching_bytes(text, offset, lead);
    if (matched < lead.num_bytes && offset + matched == text.size()) return offset;
  }
  return text.size();
}

}  // namespace evener::utf8
