// Any bytes as a text: encoding and decoding gives them back, and streaming gives valid UTF-8. The
// first bytes also pick merges, special tokens and a pre-tokenizer, or make a vocabulary of their
// own that is refused or works.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/detokenizer.h"
#include "tokenizer/tokenizer.h"

namespace evener::tokenizer {
namespace {

// Draws small numbers and strings from the front of the input.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto value = uint8_t(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }

  std::string_view take(size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

std::string spelled(std::string_view bytes) {
  std::string spelling;
  for (const char byte : bytes) utf8::append(spelling, byte_to_character(uint8_t(byte)));
  return spelling;
}

// One token a spelling: of two, one written raw and one in the byte alphabet, decoding could not
// know which was meant.
void add_unless_there(Vocab& vocab, std::string spelling, TokenKind kind) {
  if (std::ranges::find(vocab.tokens, spelling) != vocab.tokens.end()) return;
  vocab.tokens.push_back(std::move(spelling));
  vocab.kinds.push_back(kind);
}

void add(Vocab& vocab, std::string spelling, TokenKind kind) {
  vocab.tokens.push_back(std::move(spelling));
  vocab.kinds.push_back(kind);
}

void add_bytes(Vocab& vocab) {
  for (unsigned value = 0; value < 256; ++value) {
    const char byte = char(value);
    if (vocab.model == Vocab::Model::bpe) {
      add(vocab, spelled({&byte, 1}), TokenKind::normal);
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      add(vocab, std::string("<0x") + kDigits[value >> 4] + kDigits[value & 15] + ">",
          TokenKind::byte);
    }
  }
}

Vocab draw_vocab(Input& input) {
  static constexpr const char* kPre[] = {"gpt-2",        "llama-bpe", "qwen2",  "qwen35",
                                         "deepseek-llm", "gpt-4o",    "tekken", "deepseek-v3"};
  Vocab vocab;
  const uint8_t choice = input.byte();
  vocab.model = (choice & 1) != 0 ? Vocab::Model::spm : Vocab::Model::bpe;
  vocab.pre = kPre[choice >> 1 & 7];
  add_bytes(vocab);
  for (int left = input.byte() & 15; left > 0; --left) {
    const uint8_t form = input.byte();
    const std::string text(input.take(1 + (form & 7)));
    if ((form & 8) != 0) {
      add_unless_there(vocab, text,
                       (form & 16) != 0 ? TokenKind::user_defined : TokenKind::control);
      continue;
    }
    const size_t cut = text.size() / 2;
    vocab.merges.push_back(spelled(text.substr(0, cut)) + " " + spelled(text.substr(cut)));
    const bool bpe = vocab.model == Vocab::Model::bpe;
    add_unless_there(vocab, bpe ? spelled(text) : text, TokenKind::normal);
  }
  return vocab;
}

// Raw bytes as every field: refused or usable.
void try_any_vocab(Input input) {
  Vocab vocab;
  vocab.model = (input.byte() & 1) != 0 ? Vocab::Model::spm : Vocab::Model::bpe;
  vocab.bos = int8_t(input.byte());
  vocab.eos = int8_t(input.byte());
  vocab.fim_pad = int8_t(input.byte());
  for (int left = input.byte(); left > 0; --left) {
    const uint8_t form = input.byte();
    add(vocab, std::string(input.take(form & 15)), TokenKind((form >> 4) % 6));
    float score = 0;
    const std::string_view bits = input.take(sizeof score);
    std::memcpy(&score, bits.data(), bits.size());
    vocab.scores.push_back(score);
    vocab.merges.emplace_back(input.take(form >> 5));
  }
  const auto tokenizer = Tokenizer::create(std::move(vocab));
  if (!tokenizer) return;
  const auto ids = (*tokenizer)->encode(input.rest(), {SpecialTokens::parse, true});
  for (const TokenId id : ids) EVENER_ASSERT(size_t(id) < (*tokenizer)->size());
  (void)(*tokenizer)->decode(ids, {.skip_special = true});
}

void check_stream(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  Detokenizer detokenizer(tokenizer, {.skip_special = false, .at_text_start = true});
  std::string text;
  for (const TokenId id : ids) {
    const std::string piece = detokenizer.push(id);
    EVENER_ASSERT(utf8::is_valid(piece));
    text += piece;
  }
  text += detokenizer.finish();
  EVENER_ASSERT(text == utf8::replace_invalid(tokenizer.decode(ids)));
}

void try_text(Input input) {
  const Vocab vocab = draw_vocab(input);
  const auto made = Tokenizer::create(vocab);
  EVENER_ASSERT(made.has_value());
  const Tokenizer& tokenizer = **made;
  const std::string_view text = input.rest();
  const bool bpe = vocab.model == Vocab::Model::bpe;
  for (const SpecialTokens special : {SpecialTokens::plain, SpecialTokens::parse}) {
    const auto ids = tokenizer.encode(text, {.special = special});
    check_stream(tokenizer, ids);
    if (bpe) EVENER_ASSERT(tokenizer.decode(ids) == text);
  }
}

}  // namespace
}  // namespace evener::tokenizer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = (evener::log::set_level(evener::log::Level::error), true);
  (void)quiet;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  evener::tokenizer::try_text(evener::tokenizer::Input(bytes));
  evener::tokenizer::try_any_vocab(evener::tokenizer::Input(bytes));
  return 0;
}
