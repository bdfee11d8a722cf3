#include "tokenizer/roles.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/log.h"

namespace evener::tokenizer {
namespace {

using Spellings = std::span<const std::string_view>;

constexpr std::string_view kEndOfTurn[] = {"<|eot_id|>",
                                           "<|im_end|>",
                                           "<|end|>",
                                           "<end_of_turn>",
                                           "<|endoftext|>",
                                           "<|end_of_text|>",
                                           "<EOT>",
                                           "_<EOT>",
                                           "[EOT]",
                                           "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
                                           "<end_of_utterance>"};
constexpr std::string_view kEndOfMessage[] = {"<|eom_id|>"};
constexpr std::string_view kEndOfGeneration[] = {"<|eot_id|>",
                                                 "<|im_end|>",
                                                 "<|end|>",
                                                 "<|return|>",
                                                 "<|call|>",
                                                 "<|flush|>",
                                                 "<|calls|>",
                                                 "<end_of_turn>",
                                                 "<|endoftext|>",
                                                 "</s>",
                                                 "<|eom_id|>",
                                                 "<EOT>",
                                                 "_<EOT>",
                                                 "[EOT]",
                                                 "[EOS]",
                                                 "<|end_of_text|>",
                                                 "<end_of_utterance>",
                                                 "<eos>",
                                                 "<turn|>",
                                                 "<|tool_response>",
                                                 "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
                                                 "[e~["};
constexpr std::string_view kFimPrefix[] = {
    "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",    "<\uFF5Cfim\u2581begin\uFF5C>",
    "<PRE>",          "\u2581<PRE>",  "<|code_prefix|>", "<|prefix|>"};
constexpr std::string_view kFimSuffix[] = {
    "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",    "<\uFF5Cfim\u2581hole\uFF5C>",
    "<SUF>",          "\u2581<SUF>",  "<|code_suffix|>", "<|suffix|>"};
constexpr std::string_view kFimMiddle[] = {
    "<|fim_middle|>", "<fim-middle>", "<fim_middle>",    "<\uFF5Cfim\u2581end\uFF5C>",
    "<MID>",          "\u2581<MID>",  "<|code_middle|>", "<|middle|>"};
constexpr std::string_view kFimPad[] = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};
constexpr std::string_view kFimRepository[] = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>",
                                               "<REPO>", "<reponame>"};
constexpr std::string_view kFimSeparator[] = {"<|file_sep|>"};

// gpt-oss: parts of its message headers, which a reader of the answer must see.
constexpr std::string_view kAlwaysShown[] = {"<|channel|>", "<|message|>", "<|start|>",
                                             "<|constrain|>"};

class Assignment {
 public:
  Assignment(Vocab& vocab, const TokenTable& table) : vocab_(vocab), table_(table) {}

  Roles run() {
    // With merges it comes from tokenizer.json, which says what there is.
    const bool spm = vocab_.model == Vocab::Model::spm && vocab_.merges.empty();
    roles_.bos = stated(vocab_.bos, spm ? std::optional<int64_t>(1) : std::nullopt, "bos");
    roles_.eos = stated(vocab_.eos, spm ? std::optional<int64_t>(2) : std::nullopt, "eos");
    roles_.unk = stated(vocab_.unk, spm ? std::optional<int64_t>(0) : std::nullopt, "unk");
    roles_.pad = stated(vocab_.pad, {}, "pad");
    roles_.eot = stated_or_called(vocab_.eot, kEndOfTurn, "eot");
    roles_.eom = stated_or_called(vocab_.eom, kEndOfMessage, "eom");
    stated_or_called(vocab_.fim_pre, kFimPrefix, "fim_pre");
    stated_or_called(vocab_.fim_suf, kFimSuffix, "fim_suf");
    stated_or_called(vocab_.fim_mid, kFimMiddle, "fim_mid");
    add_eog(stated_or_called(vocab_.fim_pad, kFimPad, "fim_pad"));
    add_eog(stated_or_called(vocab_.fim_rep, kFimRepository, "fim_rep"));
    add_eog(stated_or_called(vocab_.fim_sep, kFimSeparator, "fim_sep"));
    for (const std::string_view spelling : kEndOfGeneration) {
      if (const auto id = table_.find(spelling)) add_eog(make_control(*id));
    }
    for (const std::string_view spelling : kAlwaysShown) {
      if (const auto id = table_.find(spelling)) kind(*id) = TokenKind::user_defined;
    }
    for (const auto& id : {roles_.eos, roles_.eot, roles_.eom}) add_eog(id);
    for (const int64_t id : vocab_.eog) add_eog(stated(id, {}, "end"));
    correct_harmony();
    correct_gemma();
    std::ranges::sort(roles_.eog);
    return std::move(roles_);
  }

 private:
  TokenKind& kind(TokenId id) { return vocab_.kinds[size_t(id)]; }

  TokenId make_control(TokenId id) {
    kind(id) = TokenKind::control;
    return id;
  }

  std::optional<TokenId> stated(const std::optional<int64_t>& id, std::optional<int64_t> fallback,
                                std::string_view role) {
    const auto fits = [this](const std::optional<int64_t>& candidate) {
      return candidate && *candidate >= 0 && uint64_t(*candidate) < vocab_.tokens.size();
    };
    if (fits(id)) return TokenId(*id);
    if (id) {
      log::warning("the vocabulary has {} tokens, so its {} token {} is left out",
                   vocab_.tokens.size(), role, *id);
    }
    if (fits(fallback)) return TokenId(*fallback);
    return {};
  }

  std::optional<TokenId> stated_or_called(const std::optional<int64_t>& id, Spellings spellings,
                                          std::string_view role) {
    if (const auto found = stated(id, {}, role)) return found;
    for (const std::string_view spelling : spellings) {
      if (const auto found = table_.find(spelling)) return make_control(*found);
    }
    return {};
  }

  void add_eog(std::optional<TokenId> id) {
    if (id && !is_eog(*id)) roles_.eog.push_back(*id);
  }

  bool is_eog(TokenId id) const { return std::ranges::find(roles_.eog, id) != roles_.eog.end(); }

  bool is_eog(std::string_view spelling) const {
    const auto id = table_.find(spelling);
    return id && is_eog(*id);
  }

  void remove_eog(std::string_view spelling, TokenKind new_kind) {
    const auto id = table_.find(spelling);
    if (!id || std::erase(roles_.eog, *id) == 0) return;
    kind(*id) = new_kind;
  }

  // gpt-oss and solar-open end a message with <|end|> and go on; what ends their turn is another.
  void correct_harmony() {
    const bool call = is_eog("<|call|>") || is_eog("<|calls|>");
    if (call && (is_eog("<|return|>") || is_eog("<|flush|>"))) {
      remove_eog("<|end|>", TokenKind::user_defined);
    }
  }

  // In gemma4, whose turns end otherwise, </s> is a word of HTML.
  void correct_gemma() {
    if (is_eog("<|tool_response>")) remove_eog("</s>", TokenKind::normal);
  }

  Vocab& vocab_;
  const TokenTable& table_;
  Roles roles_;
};

}  // namespace

Roles assign_roles(Vocab& vocab, const TokenTable& table) { return Assignment(vocab, table).run(); }

}  // namespace evener::tokenizer
