#include "tokenizer/pieces.h"

#include <charconv>
#include <optional>

#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"

namespace evener::tokenizer {
namespace {

void append_byte_level(std::string& out, std::string_view spelling) {
  for (size_t offset = 0; offset < spelling.size();) {
    const utf8::Decoded decoded = utf8::decode(spelling, offset);
    const auto byte = character_to_byte(decoded.code_point);
    if (decoded.valid && byte) {
      out += char(*byte);
    } else {
      out += spelling.substr(offset, decoded.num_bytes);
    }
    offset += decoded.num_bytes;
  }
}

void append_sentencepiece(std::string& out, std::string_view spelling) {
  while (!spelling.empty()) {
    const size_t mark = spelling.find(kSpaceMark);
    out += spelling.substr(0, mark);
    if (mark == std::string_view::npos) return;
    out += ' ';
    spelling.remove_prefix(mark + kSpaceMark.size());
  }
}

// "<0x41>" -> 0x41
std::optional<uint8_t> byte_value(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>') return {};
  uint8_t value = 0;
  const char* digits = spelling.data() + 3;
  const auto parsed = std::from_chars(digits, digits + 2, value, 16);
  if (parsed.ptr != digits + 2) return {};
  return value;
}

void append_piece(std::string& out, const Vocab& vocab, size_t index) {
  const std::string_view spelling = vocab.tokens[index];
  switch (vocab.kinds[index]) {
    case TokenKind::unused:
      return;
    case TokenKind::unknown:
    case TokenKind::control:
    case TokenKind::user_defined:
      out += spelling;
      return;
    case TokenKind::byte:
      if (const auto byte = byte_value(spelling)) {
        out += char(*byte);
        return;
      }
      break;
    case TokenKind::normal:
      break;
  }
  if (vocab.model == Vocab::Model::bpe) {
    append_byte_level(out, spelling);
  } else {
    append_sentencepiece(out, spelling);
  }
}

}  // namespace

Pieces::Pieces(const Vocab& vocab) {
  ends_.reserve(vocab.tokens.size());
  for (size_t index = 0; index < vocab.tokens.size(); ++index) {
    append_piece(bytes_, vocab, index);
    ends_.push_back(bytes_.size());
  }
}

std::string_view Pieces::operator[](TokenId id) const {
  const auto index = size_t(id);
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

}  // namespace evener::tokenizer
