#include "tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "tokenizer/bpe.h"
#include "tokenizer/normal_form.h"
#include "tokenizer/pieces.h"
#include "tokenizer/roles.h"
#include "tokenizer/special_matcher.h"
#include "tokenizer/spm.h"
#include "tokenizer/token_table.h"

namespace evener::tokenizer {
namespace {

constexpr size_t kTokensMax = size_t{1} << 24;

Error vocab_error(Code code, std::string where, std::string why) {
  return {.code = code,
          .doing = "make a tokenizer",
          .where = std::move(where),
          .why = std::move(why),
          .remedy = "the model file is damaged or was converted wrongly: get it again"};
}

Status check_count(const char* list, size_t count, size_t num_tokens) {
  if (count == 0 || count == num_tokens) return {};
  return vocab_error(Code::corrupt, list,
                     fmt::format("{} of them for {} tokens", count, num_tokens));
}

Status check(const Vocab& vocab) {
  const size_t num_tokens = vocab.tokens.size();
  if (num_tokens == 0) return vocab_error(Code::corrupt, "tokens", "there are none");
  if (num_tokens > kTokensMax) {
    return vocab_error(Code::limit_exceeded, "tokens",
                       fmt::format("{} of them, at most {} are read", num_tokens, kTokensMax));
  }
  RETURN_IF_ERROR(check_count("scores", vocab.scores.size(), num_tokens));
  RETURN_IF_ERROR(check_count("token types", vocab.kinds.size(), num_tokens));
  for (size_t index = 0; index < vocab.scores.size(); ++index) {
    if (!std::isfinite(vocab.scores[index])) {
      return vocab_error(Code::corrupt, fmt::format("score of token {}", index),
                         "is not a finite number");
    }
  }
  return {};
}

}  // namespace

class Tokenizer::Impl {
 public:
  // `vocab` was checked and has its kinds.
  explicit Impl(Vocab vocab)
      : vocab_(std::move(vocab)),
        table_(vocab_.tokens),
        roles_(assign_roles(vocab_, table_)),
        pieces_(vocab_),
        specials_(vocab_, table_) {}

  Status init();
  void encode_text(std::string_view text, bool at_start, std::vector<TokenId>& ids) const;
  void encode_normal(std::string_view text, bool at_start, std::vector<TokenId>& ids) const;
  // Whether the text behind a special token gets a space prefix again.
  bool begins_text(TokenId special) const {
    return !vocab_.space_prefix_once && !specials_.is_normalized(special);
  }
  bool contains(TokenId id) const { return id >= 0 && size_t(id) < vocab_.tokens.size(); }

  Vocab vocab_;  // its merges and scores are dropped by init()
  TokenTable table_;
  Roles roles_;
  Pieces pieces_;
  SpecialMatcher specials_;
  std::variant<std::monostate, Bpe, Spm> model_;
  bool adds_bos_ = false;
  bool adds_eos_ = false;
  bool adds_space_prefix_ = false;
};

Status Tokenizer::Impl::init() {
  const bool spm = vocab_.model == Vocab::Model::spm;
  bool add_bos_by_default = spm;
  if (spm) {
    ASSIGN_OR_RETURN(Spm made, Spm::create(vocab_, table_));
    model_.emplace<Spm>(std::move(made));
  } else {
    ASSIGN_OR_RETURN(Bpe bpe, Bpe::create(vocab_, table_));
    add_bos_by_default = bpe.add_bos_by_default();
    model_.emplace<Bpe>(std::move(bpe));
  }
  adds_bos_ = roles_.bos && vocab_.add_bos.value_or(add_bos_by_default);
  adds_eos_ = roles_.eos && vocab_.add_eos.value_or(false);
  adds_space_prefix_ = spm && vocab_.add_space_prefix.value_or(true);
  vocab_.merges = {};
  vocab_.scores = {};
  return {};
}

void Tokenizer::Impl::encode_text(std::string_view text, bool at_start,
                                  std::vector<TokenId>& ids) const {
  if (vocab_.normal_form == NormalForm::none) return encode_normal(text, at_start, ids);
  encode_normal(to_normal_form(text, vocab_.normal_form), at_start, ids);
}

void Tokenizer::Impl::encode_normal(std::string_view text, bool at_start,
                                    std::vector<TokenId>& ids) const {
  const TokenId unknown = roles_.unk.value_or(-1);
  if (const auto* bpe = std::get_if<Bpe>(&model_)) {
    bpe->encode(text, unknown, ids);
  } else if (const auto* spm = std::get_if<Spm>(&model_)) {
    const bool is_there =
        vocab_.space_prefix_unless_there && (text.starts_with(' ') || text.starts_with(kSpaceMark));
    spm->encode(text, adds_space_prefix_ && at_start && !is_there, unknown, ids);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(Vocab vocab) {
  RETURN_IF_ERROR(check(vocab));
  vocab.kinds.resize(vocab.tokens.size(), TokenKind::normal);
  auto impl = std::make_unique<Impl>(std::move(vocab));
  RETURN_IF_ERROR(impl->init());
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(impl)));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::vector<TokenId> ids;
  if (options.add_special && impl_->adds_bos_) ids.push_back(*impl_->roles_.bos);
  bool after_special = true;  // a text's beginning counts as that
  for (const Fragment& fragment : impl_->specials_.partition(text, options.special)) {
    if (fragment.id >= 0) {
      ids.push_back(fragment.id);
    } else {
      impl_->encode_text(fragment.text, after_special, ids);
    }
    after_special = fragment.id >= 0 && impl_->begins_text(fragment.id);
  }
  if (options.add_special && impl_->adds_eos_) ids.push_back(*impl_->roles_.eos);
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  std::string text;
  bool at_start = impl_->adds_space_prefix_;
  for (const TokenId id : ids) {
    std::string_view bytes = piece(id);
    if (options.skip_special && is_special(id)) bytes = {};
    if (at_start && bos() != id) {
      if (bytes.starts_with(' ')) bytes.remove_prefix(1);
      at_start = false;
    }
    text += bytes;
  }
  return text;
}

std::string_view Tokenizer::piece(TokenId id) const {
  if (!impl_->contains(id)) return {};
  return impl_->pieces_[id];
}

std::optional<TokenId> Tokenizer::find(std::string_view spelling) const {
  return impl_->table_.find(spelling);
}

std::string_view Tokenizer::spelling(TokenId id) const {
  if (!impl_->contains(id)) return {};
  return impl_->vocab_.tokens[size_t(id)];
}

bool Tokenizer::is_eog(TokenId id) const {
  return std::ranges::binary_search(impl_->roles_.eog, id);
}

std::span<const TokenId> Tokenizer::eog_tokens() const { return impl_->roles_.eog; }

TokenKind Tokenizer::kind(TokenId id) const {
  if (!impl_->contains(id)) return TokenKind::unused;
  return impl_->vocab_.kinds[size_t(id)];
}

bool Tokenizer::is_special(TokenId id) const {
  return kind(id) == TokenKind::control || kind(id) == TokenKind::unknown;
}

size_t Tokenizer::size() const { return impl_->vocab_.tokens.size(); }
std::optional<TokenId> Tokenizer::bos() const { return impl_->roles_.bos; }
std::optional<TokenId> Tokenizer::eos() const { return impl_->roles_.eos; }
std::optional<TokenId> Tokenizer::eot() const { return impl_->roles_.eot; }
std::optional<TokenId> Tokenizer::pad() const { return impl_->roles_.pad; }
std::optional<TokenId> Tokenizer::unk() const { return impl_->roles_.unk; }
bool Tokenizer::adds_bos() const { return impl_->adds_bos_; }
bool Tokenizer::adds_eos() const { return impl_->adds_eos_; }
bool Tokenizer::adds_space_prefix() const { return impl_->adds_space_prefix_; }

}  // namespace evener::tokenizer
