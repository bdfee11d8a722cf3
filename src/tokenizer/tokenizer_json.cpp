#include "tokenizer/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "tokenizer/tokenizer_rules.h"

namespace evener::tokenizer {
namespace {

constexpr uint64_t kIdMax = (uint64_t{1} << 24) - 1;
constexpr size_t kMergesMax = size_t{1} << 24;
// Ids may have gaps, but what is reserved for them must be justified by the tokens there are.
constexpr size_t kGapsMax = size_t{1} << 16;

struct Entry {
  std::string spelling;
  uint64_t id = 0;
};

// Takes model.vocab and model.merges, which are nearly all of the file, out of the document as they
// come: as JSON values they would take ten times the memory and time.
class DocumentReader final : public json::Builder {
 public:
  std::vector<Entry> tokens;
  std::vector<std::string> merges;

  bool key(std::string_view name) override {
    if (place_ == Place::vocab) {
      if (tokens.size() > kIdMax) {
        return fail(Code::limit_exceeded, fmt::format("has more than {} tokens", kIdMax + 1));
      }
      tokens.push_back({.spelling = std::string(name)});
      return true;
    }
    if (depth() == 1) in_model_ = name == "model";
    next_ = Place::outside;
    if (depth() == 2 && in_model_ && name == "vocab") next_ = Place::vocab;
    if (depth() == 2 && in_model_ && name == "merges") next_ = Place::merges;
    return Builder::key(name);
  }

  bool start_object() override {
    if (place_ != Place::outside) return misplaced();
    if (std::exchange(next_, Place::outside) == Place::vocab) {
      place_ = Place::vocab;
      return Builder::null();
    }
    return Builder::start_object();
  }

  bool end_object() override {
    if (place_ == Place::vocab) {
      place_ = Place::outside;
      return true;
    }
    return Builder::end_object();
  }

  bool start_array() override {
    if (place_ == Place::merges) {
      place_ = Place::pair;
      pair_size_ = 0;
      return true;
    }
    if (place_ != Place::outside) return misplaced();
    if (std::exchange(next_, Place::outside) == Place::merges) {
      place_ = Place::merges;
      return Builder::null();
    }
    return Builder::start_array();
  }

  bool end_array() override {
    if (place_ == Place::pair) {
      place_ = Place::merges;
      return pair_size_ == 2 || fail(Code::corrupt, "has a merge of other than two tokens");
    }
    if (place_ == Place::merges) {
      place_ = Place::outside;
      return true;
    }
    return Builder::end_array();
  }

  bool string(std::string_view text) override {
    if (place_ == Place::merges) return add_merge(text);
    if (place_ == Place::pair) {
      if (++pair_size_ == 1) return add_merge(text);
      merges.back().append(" ").append(text);
      return true;
    }
    return place_ == Place::outside ? Builder::string(text) : misplaced();
  }

  bool unsigned_integer(uint64_t number) override {
    if (place_ == Place::outside) return Builder::unsigned_integer(number);
    if (place_ != Place::vocab) return misplaced();
    if (number > kIdMax) return fail(Code::limit_exceeded, fmt::format("has a token {}", number));
    tokens.back().id = number;
    return true;
  }

  bool null() override { return place_ == Place::outside ? Builder::null() : misplaced(); }
  bool boolean(bool value) override {
    return place_ == Place::outside ? Builder::boolean(value) : misplaced();
  }
  bool integer(int64_t number) override {
    return place_ == Place::outside ? Builder::integer(number) : misplaced();
  }
  bool real(double number) override {
    return place_ == Place::outside ? Builder::real(number) : misplaced();
  }

 private:
  enum class Place { outside, vocab, merges, pair };

  bool misplaced() {
    return fail(Code::corrupt, place_ == Place::vocab ? "has a token whose id is no number"
                                                      : "has a merge that is no text");
  }

  bool add_merge(std::string_view merge) {
    if (merges.size() == kMergesMax) {
      return fail(Code::limit_exceeded, fmt::format("has more than {} merges", kMergesMax));
    }
    merges.emplace_back(merge);
    return true;
  }

  Place place_ = Place::outside;
  Place next_ = Place::outside;  // where a container that comes now would lead
  bool in_model_ = false;
  size_t pair_size_ = 0;
};

// A token of the list added_tokens.
struct Added {
  Entry entry;
  bool special = false;
  AddedToken flags;
};

Result<Added> read_added(const json::Fields& fields, uint64_t id) {
  Added added;
  added.entry.id = id;
  ASSIGN_OR_RETURN(const auto content, fields.get_string("content"));
  added.entry.spelling = content;
  added.flags.id = TokenId(id);
  ASSIGN_OR_RETURN(added.special, fields.get_bool_or("special", false));
  ASSIGN_OR_RETURN(added.flags.strip_left, fields.get_bool_or("lstrip", false));
  ASSIGN_OR_RETURN(added.flags.strip_right, fields.get_bool_or("rstrip", false));
  ASSIGN_OR_RETURN(added.flags.single_word, fields.get_bool_or("single_word", false));
  ASSIGN_OR_RETURN(added.flags.normalized, fields.get_bool_or("normalized", !added.special));
  return added;
}

Result<std::vector<Added>> read_added_tokens(const json::Fields& root) {
  std::vector<Added> all;
  const json::Value* list = root.find("added_tokens");
  if (list == nullptr) return all;
  if (!list->is_array()) return root.error("added_tokens", "is not a list");
  for (size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(
        const json::Fields fields,
        json::Fields::of((*list)[i], fmt::format("{}, field 'added_tokens.{}'", root.where(), i)));
    ASSIGN_OR_RETURN(const uint64_t id, fields.get_uint("id", kIdMax));
    ASSIGN_OR_RETURN(Added added, read_added(fields, id));
    all.push_back(std::move(added));
  }
  return all;
}

// Of the tokens that tokenizer_config.json lists by their ids, those that the vocabulary lacks.
Result<std::vector<Added>> read_missing_tokens(const json::Fields& config, const Vocab& vocab) {
  constexpr std::string_view kField = "added_tokens_decoder";
  std::vector<Added> all;
  if (!config.has(kField)) return all;
  ASSIGN_OR_RETURN(const json::Fields list, config.get_object(kField));
  for (const auto& [key, value] : config.find(kField)->items()) {
    uint64_t id = 0;
    const char* end = key.data() + key.size();
    const auto parsed = std::from_chars(key.data(), end, id);
    if (parsed.ec != std::errc() || parsed.ptr != end || id > kIdMax) {
      return list.error(key, fmt::format("is not named by an id up to {}", kIdMax));
    }
    ASSIGN_OR_RETURN(const json::Fields fields, list.get_object(key));
    ASSIGN_OR_RETURN(Added added, read_added(fields, id));
    const bool is_there = id < vocab.tokens.size() && vocab.kinds[id] != TokenKind::unused;
    if (!is_there) all.push_back(std::move(added));
  }
  return all;
}

// Puts the token in its place; one that is there must be spelled alike.
Status put(const json::Fields& root, Entry entry, Vocab& vocab) {
  std::string& place = vocab.tokens[entry.id];
  TokenKind& kind = vocab.kinds[entry.id];
  if (kind != TokenKind::unused && place != entry.spelling) {
    return root.error("model", fmt::format("token {} is both '{}' and '{}'", entry.id,
                                           printable(place, 80), printable(entry.spelling, 80)));
  }
  place = std::move(entry.spelling);
  kind = TokenKind::normal;
  return {};
}

// Makes room for ids below `size`, of which `count` are known to be in use.
Status make_room(const json::Fields& root, std::string_view field, size_t size, size_t count,
                 Vocab& vocab) {
  if (size > 2 * count + kGapsMax) {
    return root.error(field, fmt::format("has {} tokens with ids up to {}", count, size - 1));
  }
  if (size > vocab.tokens.size()) {
    vocab.tokens.resize(size);
    vocab.kinds.resize(size, TokenKind::unused);
  }
  return {};
}

Status put_added(const json::Fields& root, std::string_view field, const std::vector<Added>& added,
                 size_t count, Vocab& vocab) {
  uint64_t size = 0;
  for (const Added& token : added) size = std::max(size, token.entry.id + 1);
  RETURN_IF_ERROR(make_room(root, field, size, count + added.size(), vocab));
  for (const Added& token : added) {
    RETURN_IF_ERROR(put(root, token.entry, vocab));
    vocab.kinds[token.entry.id] = token.special ? TokenKind::control : TokenKind::user_defined;
    vocab.added.push_back(token.flags);
  }
  return {};
}

Status put_tokens(const json::Fields& root, std::vector<Entry> tokens, Vocab& vocab) {
  uint64_t size = 0;
  for (const Entry& entry : tokens) size = std::max(size, entry.id + 1);
  RETURN_IF_ERROR(make_room(root, "model", size, tokens.size(), vocab));
  for (Entry& entry : tokens) RETURN_IF_ERROR(put(root, std::move(entry), vocab));
  return {};
}

bool is_byte_token(std::string_view spelling) {
  return spelling.size() == 6 && spelling.starts_with("<0x") && spelling.ends_with('>') &&
         spelling.substr(3, 2).find_first_not_of("0123456789ABCDEF") == std::string_view::npos;
}

bool is_space_marks(std::string_view spelling) {
  while (spelling.starts_with(kSpaceMark)) spelling.remove_prefix(kSpaceMark.size());
  return spelling.empty();
}

// With marks for spaces: the tokens of bytes, and added tokens. Those of marks alone are what
// merges make of spaces; others are matched in the text as it comes, where a mark in them is a
// space.
void finish_space_marks(Vocab& vocab) {
  for (size_t id = 0; id < vocab.tokens.size(); ++id) {
    std::string& spelling = vocab.tokens[id];
    TokenKind& kind = vocab.kinds[id];
    if (kind == TokenKind::normal && is_byte_token(spelling)) kind = TokenKind::byte;
    if (kind != TokenKind::user_defined) continue;
    if (is_space_marks(spelling)) {
      kind = TokenKind::normal;
      continue;
    }
    for (size_t at = spelling.find(kSpaceMark); at != std::string::npos;
         at = spelling.find(kSpaceMark, at)) {
      spelling.replace(at, kSpaceMark.size(), " ");
    }
  }
}

Status check_model(const json::Fields& model) {
  ASSIGN_OR_RETURN(const auto type, model.get_string_or("type", "BPE"));
  const auto refuse = [&](std::string_view field, std::string why) {
    Error error = model.error(field, std::move(why), "a GGUF file of the model may work");
    error.code = Code::unsupported;
    return error;
  };
  if (type != "BPE") {
    return refuse("type", fmt::format("is '{}', only BPE is read", printable(type, 40)));
  }
  for (const char* field : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    ASSIGN_OR_RETURN(const auto text, model.get_string_or(field, ""));
    if (!text.empty()) return refuse(field, "is not empty");
  }
  return {};
}

// Of the model's own fields, what is not vocabulary, merges and rules.
Status read_model(const json::Fields& model, Vocab& vocab) {
  ASSIGN_OR_RETURN(vocab.whole_words, model.get_bool_or("ignore_merges", false));
  ASSIGN_OR_RETURN(const auto unknown, model.get_string_or("unk_token", ""));
  if (!unknown.empty()) {
    const auto id = find_token(vocab, unknown);
    if (!id) return model.error("unk_token", "is no token of the vocabulary");
    vocab.unk = *id;
  }
  ASSIGN_OR_RETURN(const bool byte_fallback, model.get_bool_or("byte_fallback", false));
  if (vocab.model == Vocab::Model::spm && !byte_fallback) {
    Error error = model.error("byte_fallback", "is off", "a GGUF file of the model may work");
    error.code = Code::unsupported;
    return error;
  }
  return {};
}

// A token is named by its spelling, or by an object that has it.
Result<std::string_view> token_text(const json::Fields& config, std::string_view field) {
  const json::Value* value = config.find(field);
  if (value == nullptr) return std::string_view();
  if (!value->is_object()) return config.get_string(field);
  ASSIGN_OR_RETURN(const json::Fields token, config.get_object(field));
  return token.get_string("content");
}

struct TokenField {
  const char* name;
  std::optional<int64_t> Vocab::* id;
};

constexpr TokenField kTokenFields[] = {{"bos_token", &Vocab::bos},
                                       {"eos_token", &Vocab::eos},
                                       {"pad_token", &Vocab::pad},
                                       {"unk_token", &Vocab::unk}};

}  // namespace

Result<Vocab> read_tokenizer_json(std::string_view text, std::string_view where) {
  DocumentReader reader;
  RETURN_IF_ERROR(reader.parse(text, where));
  ASSIGN_OR_RETURN(const json::Fields root, json::Fields::of(reader.root(), std::string(where)));
  ASSIGN_OR_RETURN(const json::Fields model, root.get_object("model"));
  RETURN_IF_ERROR(check_model(model));
  if (reader.tokens.empty()) return model.error("vocab", "is missing or has no tokens");
  Vocab vocab;
  ASSIGN_OR_RETURN(const auto added, read_added_tokens(root));
  const size_t count = reader.tokens.size();
  RETURN_IF_ERROR(put_tokens(root, std::move(reader.tokens), vocab));
  RETURN_IF_ERROR(put_added(root, "added_tokens", added, count, vocab));
  vocab.merges = std::move(reader.merges);
  RETURN_IF_ERROR(read_tokenizer_rules(root, vocab));
  RETURN_IF_ERROR(read_model(model, vocab));
  if (vocab.model == Vocab::Model::spm) finish_space_marks(vocab);
  return vocab;
}

Status add_tokenizer_config(const json::Fields& config, Vocab& vocab) {
  ASSIGN_OR_RETURN(const auto missing, read_missing_tokens(config, vocab));
  if (!missing.empty()) {
    RETURN_IF_ERROR(put_added(config, "added_tokens_decoder", missing, vocab.tokens.size(), vocab));
    if (vocab.model == Vocab::Model::spm) finish_space_marks(vocab);
  }
  for (const TokenField& field : kTokenFields) {
    ASSIGN_OR_RETURN(const auto spelling, token_text(config, field.name));
    if (spelling.empty()) continue;
    const auto id = find_token(vocab, spelling);
    if (!id) return config.error(field.name, "is no token of the vocabulary");
    vocab.*field.id = *id;
  }
  if (config.has("add_bos_token")) {
    ASSIGN_OR_RETURN(vocab.add_bos, config.get_bool_or("add_bos_token", false));
  }
  if (config.has("add_eos_token")) {
    ASSIGN_OR_RETURN(vocab.add_eos, config.get_bool_or("add_eos_token", false));
  }
  return {};
}

}  // namespace evener::tokenizer
