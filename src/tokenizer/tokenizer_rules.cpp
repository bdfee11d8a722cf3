#include "tokenizer/tokenizer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tokenizer/foreign_pattern.h"

namespace evener::tokenizer {
namespace {

// As ByteLevel splits when its use_regex is on.
constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr size_t kSplitsMax = 64;

Error unsupported(const json::Fields& fields, std::string_view field, std::string why) {
  Error error = fields.error(field, std::move(why), "a GGUF file of the model may work");
  error.code = Code::unsupported;
  return error;
}

Error unknown_type(const json::Fields& fields, std::string_view type) {
  return unsupported(fields, "type",
                     fmt::format("'{}' is not one that Evener has", printable(type, 40)));
}

// Calls visit(fields, type) for the part called `name` or, if it is a Sequence, for each of its
// parts, which are in the list `inner`.
template <class Visit>
Status for_each_part(const json::Fields& parent, std::string_view name, std::string_view inner,
                     const Visit& visit) {
  if (!parent.has(name)) return {};
  ASSIGN_OR_RETURN(const json::Fields part, parent.get_object(name));
  ASSIGN_OR_RETURN(const std::string_view type, part.get_string("type"));
  if (type != "Sequence") return visit(part, type);
  const json::Value* list = part.find(inner);
  if (list == nullptr || !list->is_array()) return part.error(inner, "is not a list");
  for (size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(const json::Fields item,
                     json::Fields::of((*list)[i], fmt::format("{}, field '{}.{}.{}'", part.where(),
                                                              name, inner, i)));
    ASSIGN_OR_RETURN(const std::string_view item_type, item.get_string("type"));
    RETURN_IF_ERROR(visit(item, item_type));
  }
  return {};
}

class RuleReader {
 public:
  RuleReader(const json::Fields& root, Vocab& vocab) : root_(root), vocab_(vocab) {}

  Status run();

 private:
  Status normalizer(const json::Fields& part, std::string_view type);
  Status pre_tokenizer(const json::Fields& part, std::string_view type);
  Status decoder(const json::Fields& part, std::string_view type);
  Status post_processor(const json::Fields& part, std::string_view type);
  Status normal_form(const json::Fields& part, NormalForm form);
  Status split(const json::Fields& part);
  Status byte_level(const json::Fields& part);
  Status metaspace(const json::Fields& part);
  Status template_processing(const json::Fields& part);
  Status finish();
  Status add_split(const json::Fields& part, std::string pattern, SplitBehaviour behaviour);

  const json::Fields& root_;
  Vocab& vocab_;
  bool byte_level_ = false;
  bool space_marks_ = false;
  bool has_prefix_ = false;
  std::vector<SplitRule> splits_;
};

Status RuleReader::normal_form(const json::Fields& part, NormalForm form) {
  if (vocab_.normal_form != NormalForm::none) {
    return unsupported(part, "type", "is a second normal form");
  }
  if (space_marks_ || has_prefix_) {
    return unsupported(part, "type", "comes behind the marks for spaces");
  }
  vocab_.normal_form = form;
  return {};
}

Status RuleReader::normalizer(const json::Fields& part, std::string_view type) {
  if (type == "NFC") return normal_form(part, NormalForm::nfc);
  if (type == "NFD") return normal_form(part, NormalForm::nfd);
  if (type == "NFKC") return normal_form(part, NormalForm::nfkc);
  if (type == "NFKD") return normal_form(part, NormalForm::nfkd);
  if (type == "Prepend") {
    ASSIGN_OR_RETURN(const auto text, part.get_string("prepend"));
    if (text != kSpaceMark) return unsupported(part, "prepend", "is not U+2581");
    has_prefix_ = true;
    return {};
  }
  if (type == "Replace") {
    ASSIGN_OR_RETURN(const json::Fields pattern, part.get_object("pattern"));
    ASSIGN_OR_RETURN(const auto from, pattern.get_string_or("String", ""));
    ASSIGN_OR_RETURN(const auto to, part.get_string("content"));
    if (from != " " || to != kSpaceMark) {
      return unsupported(part, "pattern", "is not a space that becomes U+2581");
    }
    space_marks_ = true;
    return {};
  }
  return unknown_type(part, type);
}

Status RuleReader::add_split(const json::Fields& part, std::string pattern,
                             SplitBehaviour behaviour) {
  if (splits_.size() == kSplitsMax) return unsupported(part, "type", "is one split too many");
  splits_.push_back({.pattern = std::move(pattern), .behaviour = behaviour, .is_foreign = true});
  return {};
}

Status RuleReader::split(const json::Fields& part) {
  ASSIGN_OR_RETURN(const json::Fields pattern, part.get_object("pattern"));
  ASSIGN_OR_RETURN(const auto behaviour, part.get_string("behavior"));
  ASSIGN_OR_RETURN(const bool inverted, part.get_bool_or("invert", false));
  std::string translated;
  if (pattern.has("String")) {
    ASSIGN_OR_RETURN(const auto text, pattern.get_string("String"));
    if (text.empty()) return unsupported(pattern, "String", "is empty");
    // In texts whose spaces are marks there is none left to split at.
    if (text == " " && space_marks_) return {};
    translated = literal_pattern(text);
  } else {
    ASSIGN_OR_RETURN(const auto regex, pattern.get_string("Regex"));
    auto result = translate_pattern(regex);
    if (!result) {
      Error error = pattern.error("Regex", std::move(result).error().why);
      error.code = result.error().code;
      return error;
    }
    translated = *std::move(result);
  }
  // Patterns that stand for the words are inverted and their gaps, which are empty, removed.
  const bool isolates = behaviour == "Isolated" || (behaviour == "Removed" && inverted);
  if (isolates) return add_split(part, std::move(translated), SplitBehaviour::isolated);
  if (!inverted && behaviour == "MergedWithPrevious") {
    return add_split(part, std::move(translated), SplitBehaviour::merged_with_previous);
  }
  if (!inverted && behaviour == "MergedWithNext") {
    return add_split(part, std::move(translated), SplitBehaviour::merged_with_next);
  }
  if (!inverted && behaviour == "Contiguous") {
    return add_split(part, std::move(translated), SplitBehaviour::contiguous);
  }
  return unsupported(part, "behavior",
                     fmt::format("'{}'{} is not one that Evener has", printable(behaviour, 40),
                                 inverted ? ", inverted," : ""));
}

Status RuleReader::byte_level(const json::Fields& part) {
  byte_level_ = true;
  ASSIGN_OR_RETURN(const bool prefix, part.get_bool_or("add_prefix_space", true));
  if (prefix) return unsupported(part, "add_prefix_space", "is on");
  ASSIGN_OR_RETURN(const bool use_regex, part.get_bool_or("use_regex", true));
  if (!use_regex) return {};
  return add_split(part, std::string(kGpt2), SplitBehaviour::isolated);
}

Status RuleReader::metaspace(const json::Fields& part) {
  ASSIGN_OR_RETURN(const auto mark, part.get_string_or("replacement", kSpaceMark));
  if (mark != kSpaceMark) return unsupported(part, "replacement", "is not U+2581");
  ASSIGN_OR_RETURN(const bool old_prefix, part.get_bool_or("add_prefix_space", true));
  ASSIGN_OR_RETURN(const auto scheme,
                   part.get_string_or("prepend_scheme", old_prefix ? "always" : "never"));
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return unsupported(part, "prepend_scheme", fmt::format("is '{}'", printable(scheme, 40)));
  }
  ASSIGN_OR_RETURN(vocab_.cut_at_marks, part.get_bool_or("split", true));
  space_marks_ = true;
  has_prefix_ = has_prefix_ || scheme != "never";
  vocab_.space_prefix_once = scheme == "first";
  vocab_.space_prefix_unless_there = true;
  return {};
}

Status RuleReader::pre_tokenizer(const json::Fields& part, std::string_view type) {
  if (type == "Split") return split(part);
  if (type == "ByteLevel") return byte_level(part);
  if (type == "Metaspace") return metaspace(part);
  if (type == "Digits") {
    ASSIGN_OR_RETURN(const bool each, part.get_bool_or("individual_digits", false));
    return add_split(part, each ? R"(\p{N})" : R"(\p{N}+)", SplitBehaviour::isolated);
  }
  if (type == "Punctuation") {
    ASSIGN_OR_RETURN(const auto behaviour, part.get_string_or("behavior", "Isolated"));
    const bool contiguous = behaviour == "Contiguous" || behaviour == "contiguous";
    if (!contiguous && behaviour != "Isolated" && behaviour != "isolated") {
      return unsupported(part, "behavior", fmt::format("is '{}'", printable(behaviour, 40)));
    }
    return add_split(part, R"([\p{P}$+<=>^`|~])",
                     contiguous ? SplitBehaviour::contiguous : SplitBehaviour::isolated);
  }
  return unknown_type(part, type);
}

// What decoders do follows from the kind of vocabulary; they only must not ask for more.
Status RuleReader::decoder(const json::Fields& part, std::string_view type) {
  for (const std::string_view known :
       {"ByteLevel", "Metaspace", "ByteFallback", "Fuse", "Strip", "Replace"}) {
    if (type == known) return {};
  }
  return unknown_type(part, type);
}

// Special tokens at the two ends of a text: [bos] text [eos].
Status RuleReader::template_processing(const json::Fields& part) {
  const json::Value* single = part.find("single");
  if (single == nullptr || !single->is_array()) return part.error("single", "is not a list");
  bool is_behind = false;
  for (const json::Value& item : *single) {
    if (item.is_object() && item.contains("Sequence")) {
      is_behind = true;
      continue;
    }
    ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(item, part.where()));
    ASSIGN_OR_RETURN(const json::Fields token, fields.get_object("SpecialToken"));
    ASSIGN_OR_RETURN(const auto spelling, token.get_string("id"));
    const auto id = find_token(vocab_, spelling);
    if (!id) return token.error("id", "is no token of the vocabulary");
    std::optional<int64_t>& place = is_behind ? vocab_.eos : vocab_.bos;
    if (place) return unsupported(part, "single", "puts two tokens at one end");
    place = *id;
    (is_behind ? vocab_.add_eos : vocab_.add_bos) = true;
  }
  return {};
}

Status RuleReader::post_processor(const json::Fields& part, std::string_view type) {
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return template_processing(part);
  return unknown_type(part, type);
}

Status RuleReader::finish() {
  if (byte_level_ == space_marks_) {
    return unsupported(root_, "pre_tokenizer",
                       byte_level_ ? "writes both bytes and marks for spaces"
                                   : "is neither byte-level nor has it marks for spaces");
  }
  if (byte_level_) {
    if (has_prefix_) return unsupported(root_, "normalizer", "puts a mark before bytes");
    vocab_.model = Vocab::Model::bpe;
    vocab_.splits = std::move(splits_);
    return {};
  }
  if (!splits_.empty()) {
    return unsupported(root_, "pre_tokenizer", "splits a text that has marks for spaces");
  }
  vocab_.model = Vocab::Model::spm;
  vocab_.add_space_prefix = has_prefix_;
  return {};
}

Status RuleReader::run() {
  RETURN_IF_ERROR(for_each_part(
      root_, "normalizer", "normalizers",
      [this](const json::Fields& part, std::string_view type) { return normalizer(part, type); }));
  RETURN_IF_ERROR(for_each_part(root_, "pre_tokenizer", "pretokenizers",
                                [this](const json::Fields& part, std::string_view type) {
                                  return pre_tokenizer(part, type);
                                }));
  RETURN_IF_ERROR(for_each_part(
      root_, "decoder", "decoders",
      [this](const json::Fields& part, std::string_view type) { return decoder(part, type); }));
  RETURN_IF_ERROR(finish());
  return for_each_part(root_, "post_processor", "processors",
                       [this](const json::Fields& part, std::string_view type) {
                         return post_processor(part, type);
                       });
}

}  // namespace

Status read_tokenizer_rules(const json::Fields& root, Vocab& vocab) {
  return RuleReader(root, vocab).run();
}

std::optional<TokenId> find_token(const Vocab& vocab, std::string_view spelling) {
  const auto at = std::ranges::find(vocab.tokens, spelling);
  if (at == vocab.tokens.end() || spelling.empty()) return std::nullopt;
  return TokenId(at - vocab.tokens.begin());
}

}  // namespace evener::tokenizer
