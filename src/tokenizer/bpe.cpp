#include "tokenizer/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"

namespace evener::tokenizer {
namespace {

constexpr size_t kMergesMax = size_t{1} << 24;

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

Bpe::Bpe(const Pretokenizer& rule, Splitter splitter, const TokenTable& table, size_t num_merges)
    : rule_(&rule), splitter_(std::move(splitter)), table_(&table), merges_(num_merges) {
  for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const char text = char(byte);
    byte_tokens_[byte] = table.find(spelled({&text, 1})).value_or(-1);
  }
}

Result<Bpe> Bpe::create(const Vocab& vocab, const TokenTable& table) {
  ASSIGN_OR_RETURN(const Pretokenizer* rule, pretokenizer_of(vocab));
  if (vocab.merges.size() > kMergesMax) {
    return Error{
        .code = Code::limit_exceeded,
        .doing = "make a tokenizer",
        .where = "merges",
        .why = fmt::format("{} of them, at most {} are read", vocab.merges.size(), kMergesMax),
        .remedy = {}};
  }
  ASSIGN_OR_RETURN(Splitter splitter, Splitter::create(*rule));
  Bpe bpe(*rule, std::move(splitter), table, vocab.merges.size());
  bpe.add_merges(vocab.merges);
  const auto missing = std::ranges::count(bpe.byte_tokens_, -1);
  if (missing > 0) {
    log::warning("the vocabulary has no token for {} of the 256 bytes: they cannot be encoded",
                 missing);
  }
  return bpe;
}

void Bpe::add_merges(const std::vector<std::string>& merges) {
  std::string spelling;
  int32_t rank = -1;
  for (const std::string_view merge : merges) {
    ++rank;
    const size_t space = merge.find(' ', 1);  // not at 0: the left token may be a space
    if (space == std::string_view::npos) continue;
    const auto left = table_->find(merge.substr(0, space));
    const auto right = table_->find(merge.substr(space + 1));
    if (!left || !right) continue;
    spelling = merge;
    spelling.erase(space, 1);
    const auto merged = table_->find(spelling);
    if (!merged) continue;
    merges_.insert({.left = *left, .right = *right}, {.rank = rank, .id = *merged});
  }
}

std::optional<TokenId> Bpe::whole_word(std::string_view word) const {
  if (!rule_->whole_words || word.size() > table_->longest_bytes()) return {};
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
