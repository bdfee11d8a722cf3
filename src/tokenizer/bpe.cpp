#include "tokenizer/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/pretokenizer.h"

namespace evener::tokenizer {
namespace {

// A longer word (no text by people has one) is merged in parts: bounds the chain's memory.
constexpr size_t kWordBytesMax = size_t{64} << 20;

std::string spelled(std::string_view bytes) {
  std::string spelling;
  for (const char byte : bytes) utf8::append(spelling, byte_to_character(uint8_t(byte)));
  return spelling;
}

Result<const Pretokenizer*> pretokenizer_of(const Vocab& vocab) {
  const Pretokenizer* rule = find_pretokenizer(vocab.pre);
  if (rule != nullptr) return rule;
  return Error{.code = Code::unsupported,
               .doing = "make a tokenizer",
               .where = "pre-tokenizer",
               .why = fmt::format("'{}' is not known", printable(vocab.pre)),
               .remedy = "known are " + pretokenizer_names()};
}

}  // namespace

Bpe::Bpe(Traits traits, Splitter splitter, const TokenTable& table, MergeTable merges)
    : traits_(traits), splitter_(std::move(splitter)), table_(&table), merges_(std::move(merges)) {
  for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const char text = char(byte);
    byte_tokens_[byte] = table.find(spelled({&text, 1})).value_or(-1);
  }
}

Result<Bpe> Bpe::create(const Vocab& vocab, const TokenTable& table) {
  Traits traits{.whole_words = vocab.whole_words, .add_bos = false};
  std::vector<SplitRule> rules;
  if (vocab.splits) {
    rules = *vocab.splits;
  } else {
    ASSIGN_OR_RETURN(const Pretokenizer* rule, pretokenizer_of(vocab));
    traits = {.whole_words = rule->whole_words, .add_bos = rule->add_bos};
    rules = split_rules(*rule);
  }
  ASSIGN_OR_RETURN(Splitter splitter, Splitter::create(rules));
  ASSIGN_OR_RETURN(MergeTable merges, MergeTable::of(vocab.merges, table));
  Bpe bpe(traits, std::move(splitter), table, std::move(merges));
  const auto missing = std::ranges::count(bpe.byte_tokens_, -1);
  if (missing > 0) {
    log::warning("the vocabulary has no token for {} of the 256 bytes: they cannot be encoded",
                 missing);
  }
  return bpe;
}

std::optional<TokenId> Bpe::whole_word(std::string_view word) const {
  if (!traits_.whole_words || word.size() > table_->longest_bytes()) return {};
  return table_->find(spelled(word));
}

void Bpe::encode_word(std::string_view word, SymbolChain& chain) const {
  chain.clear();
  for (const char byte : word) chain.append(1, byte_tokens_[uint8_t(byte)]);
  chain.merge_all([this](const Symbol& left, const Symbol& right) {
    return merges_.find({.left = left.id, .right = right.id});
  });
}

void Bpe::encode(std::string_view text, TokenId unknown, std::vector<TokenId>& ids) const {
  SymbolChain chain;
  const auto take = [&](const Symbol& symbol) {
    const TokenId id = symbol.id >= 0 ? symbol.id : unknown;
    if (id >= 0) ids.push_back(id);
  };
  size_t begin = 0;
  for (const size_t length : splitter_.split(text)) {
    std::string_view word = text.substr(begin, length);
    begin += length;
    if (const auto id = whole_word(word)) {
      ids.push_back(*id);
      continue;
    }
    for (; !word.empty(); word.remove_prefix(std::min(word.size(), kWordBytesMax))) {
      encode_word(word.substr(0, kWordBytesMax), chain);
      chain.for_each(take);
    }
  }
}

}  // namespace evener::tokenizer
