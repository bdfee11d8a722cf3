#include "tokenizer/spm.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace evener::tokenizer {
namespace {

// A longer word is merged in parts: bounds the chain's memory.
constexpr size_t kPartBytesMax = size_t{64} << 20;

// Equal scores have equal ranks.
std::vector<int32_t> ranks_of(const std::vector<float>& scores, size_t num_tokens) {
  if (scores.empty()) return std::vector<int32_t>(num_tokens, 0);
  std::vector<float> falling = scores;
  std::ranges::sort(falling, std::greater<>());
  const auto repeated = std::ranges::unique(falling);
  falling.erase(repeated.begin(), repeated.end());
  std::vector<int32_t> ranks;
  ranks.reserve(scores.size());
  for (const float score : scores) {
    const auto place = std::ranges::lower_bound(falling, score, std::greater<>());
    ranks.push_back(int32_t(place - falling.begin()));
  }
  return ranks;
}

std::string with_space_marks(std::string_view text, bool space_prefix) {
  std::string marked;
  marked.reserve(text.size() + 2 * kSpaceMark.size());
  if (space_prefix) marked += kSpaceMark;
  for (const char c : text) {
    if (c == ' ') {
      marked += kSpaceMark;
    } else {
      marked += c;
    }
  }
  return marked;
}

}  // namespace

Result<Spm> Spm::create(const Vocab& vocab, const TokenTable& table) {
  ASSIGN_OR_RETURN(MergeTable merges, MergeTable::of(vocab.merges, table));
  return Spm(vocab, table, std::move(merges));
}

Spm::Spm(const Vocab& vocab, const TokenTable& table, MergeTable merges)
    : table_(&table), by_merges_(!vocab.merges.empty()), merges_(std::move(merges)) {
  if (!by_merges_) ranks_ = ranks_of(vocab.scores, vocab.tokens.size());
  for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    auto id = table.find(fmt::format("<0x{:02X}>", byte));
    const char text = char(byte);
    if (!id) id = table.find({&text, 1});
    byte_tokens_[byte] = id.value_or(-1);
  }
  if (vocab.cut_at_marks) return;
  for (const std::string& spelling : vocab.tokens) {
    for (size_t mark = spelling.find(kSpaceMark, 1); mark != std::string::npos;
         mark = spelling.find(kSpaceMark, mark + 1)) {
      before_inner_mark_[uint8_t(spelling[mark - 1])] = true;
    }
  }
}

void Spm::encode(std::string_view text, bool space_prefix, TokenId unknown,
                 std::vector<TokenId>& ids) const {
  const std::string marked = with_space_marks(text, space_prefix);
  SymbolChain chain;
  std::string_view rest = marked;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, independent_part(rest));
    encode_part(part, chain, unknown, ids);
    rest.remove_prefix(part.size());
  }
}

size_t Spm::independent_part(std::string_view text) const {
  const std::string_view part = text.substr(0, kPartBytesMax);
  for (size_t mark = part.find(kSpaceMark, 1); mark != std::string_view::npos;
       mark = part.find(kSpaceMark, mark + 1)) {
    if (!before_inner_mark_[uint8_t(part[mark - 1])]) return mark;
  }
  return part.size();
}

std::optional<Merge> Spm::find_merge(std::string_view text, const Symbol& left,
                                     const Symbol& right) const {
  if (by_merges_) return merges_.find({.left = left.id, .right = right.id});
  const auto id = table_->find(text.substr(left.begin, left.size + right.size));
  if (!id) return {};
  return Merge{.rank = ranks_[size_t(*id)], .id = *id};
}

void Spm::encode_part(std::string_view text, SymbolChain& chain, TokenId unknown,
                      std::vector<TokenId>& ids) const {
  chain.clear();
  for (size_t offset = 0; offset < text.size();) {
    const size_t size = utf8::decode(text, offset).num_bytes;
    chain.append(uint32_t(size), table_->find(text.substr(offset, size)).value_or(-1));
    offset += size;
  }
  chain.merge_all(
      [&](const Symbol& left, const Symbol& right) { return find_merge(text, left, right); });
  chain.for_each([&](const Symbol& symbol) {
    if (symbol.id >= 0) {
      ids.push_back(symbol.id);
    } else {
      append_bytes(text.substr(symbol.begin, symbol.size), unknown, ids);
    }
  });
}

void Spm::append_bytes(std::string_view bytes, TokenId unknown, std::vector<TokenId>& ids) const {
  for (const char byte : bytes) {
    const TokenId token = byte_tokens_[uint8_t(byte)];
    const TokenId id = token >= 0 ? token : unknown;
    if (id >= 0) ids.push_back(id);
  }
}

}  // namespace evener::tokenizer
