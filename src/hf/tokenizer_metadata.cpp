#include "hf/tokenizer_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "hf/folder_tokenizer.h"
#include "hf/folder_vocab.h"
#include "tokenizer/gguf_words.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/recognise_pretokenizer.h"
#include "tokenizer/token_table.h"
#include "tokenizer/tokenizer.h"

namespace evener::hf {
namespace {

using tokenizer::gguf_key;
using tokenizer::NormalForm;
using tokenizer::TokenKind;
using tokenizer::Vocab;

Error unsupported(const std::filesystem::path& folder, std::string_view field, std::string why) {
  return {.code = Code::unsupported,
          .doing = "write the tokenizer as GGUF",
          .where = fmt::format("{}, field '{}'", (folder / "tokenizer.json").string(), field),
          .why = std::move(why),
          .remedy = "Evener runs the folder as it is"};
}

void warn_of_loss(const std::filesystem::path& folder, std::string_view what) {
  log::warning("{}: {}, which GGUF has no words for: a few texts may get other tokens",
               folder.string(), what);
}

// What is lost on the way, and seldom noticed.
void warn_of_losses(const std::filesystem::path& folder, const Vocab& vocab) {
  const auto warn = [&](std::string_view what) { warn_of_loss(folder, what); };
  if (vocab.normal_form == NormalForm::nfc) warn("texts are brought into the normal form C");
  const bool strips = std::ranges::any_of(vocab.added, [](const tokenizer::AddedToken& token) {
    return token.strip_left || token.strip_right || token.single_word;
  });
  if (strips) warn("special tokens take white space along or are whole words alone");
  if (vocab.space_prefix_once || vocab.space_prefix_unless_there) {
    warn("not every text gets a space before it");
  }
}

std::vector<std::string_view> spellings_of(const Vocab& vocab, std::vector<std::string>& fillers) {
  fillers.reserve(vocab.tokens.size());  // so that views of short ones stay valid
  std::vector<std::string_view> spellings;
  for (size_t id = 0; id < vocab.tokens.size(); ++id) {
    const bool is_filler = vocab.kinds[id] == TokenKind::unused && vocab.tokens[id].empty();
    if (is_filler) fillers.push_back(fmt::format("[PAD{}]", id));
    spellings.push_back(is_filler ? std::string_view(fillers.back()) : vocab.tokens[id]);
  }
  return spellings;
}

// The place of the first merge that makes a token, negative: the earlier, the better.
std::vector<float> scores_of(const Vocab& vocab) {
  const tokenizer::TokenTable table(vocab.tokens);
  const size_t num_merges = vocab.merges.size();
  std::vector<size_t> places(vocab.tokens.size(), num_merges);
  for (size_t place = 0; place < num_merges; ++place) {
    std::string merged = vocab.merges[place];
    const size_t space = merged.find(' ', 1);
    if (space != std::string::npos) merged.erase(space, 1);
    const auto id = table.find(merged);
    if (id) places[size_t(*id)] = std::min(places[size_t(*id)], place);
  }
  std::vector<float> scores;
  for (const size_t place : places) scores.push_back(-static_cast<float>(place));
  return scores;
}

Status add_bpe(const std::filesystem::path& folder, const Vocab& vocab, gguf::Header& header) {
  ASSIGN_OR_RETURN(const auto pre, tokenizer::recognise_pretokenizer(vocab));
  if (pre.empty()) {
    return unsupported(folder, "pre_tokenizer", "splits words by a rule that GGUF has no name for");
  }
  if (tokenizer::find_pretokenizer(pre)->whole_words != vocab.whole_words) {
    warn_of_loss(folder, vocab.whole_words ? "words that are tokens are taken whole"
                                           : "words that are tokens are merged like others");
  }
  header.set(gguf_key("model"), tokenizer::kGgufBpe);
  header.set(gguf_key("pre"), pre);
  header.set_array(gguf_key("merges"),
                   std::vector<std::string_view>(vocab.merges.begin(), vocab.merges.end()));
  return {};
}

void add_spm(const Vocab& vocab, gguf::Header& header) {
  header.set(gguf_key("model"), tokenizer::kGgufSpm);
  header.set(gguf_key("pre"), "default");
  header.set_array(gguf_key("scores"), scores_of(vocab));
}

void add_tokens(const Vocab& vocab, gguf::Header& header) {
  std::vector<std::string> fillers;
  header.set_array(gguf_key("tokens"), spellings_of(vocab, fillers));
  std::vector<int32_t> types;
  for (const TokenKind kind : vocab.kinds) types.push_back(tokenizer::gguf_token_type(kind));
  header.set_array(gguf_key("token_type"), types);
}

void add_roles(const Vocab& vocab, gguf::Header& header) {
  for (const auto& row : tokenizer::kGgufIdKeys) {
    const auto& id = vocab.*row.field;
    if (id) header.set(gguf_key(row.name), static_cast<uint32_t>(*id));
  }
  for (const auto& row : tokenizer::kGgufFlagKeys) {
    const auto& flag = vocab.*row.field;
    if (flag) header.set(gguf_key(row.name), *flag);
  }
}

// GGUF names three ends of a generation (eos, eom, eot) and readers find others by their spelling.
// Those that generation_config.json alone names take the places that are free.
Status name_ends(const std::filesystem::path& folder, Vocab& vocab) {
  Vocab without = vocab;
  without.eog.clear();
  if (!without.eos && !vocab.eog.empty()) vocab.eos = without.eos = vocab.eog.front();
  ASSIGN_OR_RETURN(const auto made, tokenizer::Tokenizer::create(std::move(without)));
  for (const int64_t id : vocab.eog) {
    if (made->is_eog(tokenizer::TokenId(id))) continue;
    std::optional<int64_t>& place = vocab.eom ? vocab.eot : vocab.eom;
    if (place) {
      log::warning("{}: token {} ends a generation, which GGUF has no words for", folder.string(),
                   id);
      continue;
    }
    place = id;
  }
  return {};
}

}  // namespace

Status add_tokenizer_metadata(const std::filesystem::path& folder, gguf::Header& header) {
  ASSIGN_OR_RETURN(Vocab vocab, read_folder_vocab(folder));
  if (vocab.normal_form != NormalForm::none && vocab.normal_form != NormalForm::nfc) {
    return unsupported(folder, "normalizer", "brings texts into a normal form that GGUF lacks");
  }
  RETURN_IF_ERROR(name_ends(folder, vocab));
  warn_of_losses(folder, vocab);
  if (vocab.model == Vocab::Model::bpe) {
    RETURN_IF_ERROR(add_bpe(folder, vocab, header));
  } else {
    add_spm(vocab, header);
  }
  add_tokens(vocab, header);
  add_roles(vocab, header);
  ASSIGN_OR_RETURN(const std::string chat_template, read_chat_template(folder));
  if (!chat_template.empty()) header.set("tokenizer.chat_template", chat_template);
  return {};
}

}  // namespace evener::hf
