// Any bytes as a tokenizer.json and, behind a line of three dashes, a tokenizer_config.json: they
// are refused, or make a tokenizer that is refused or works, whose ids stand for text again. Seeds:
// tests/data/fuzz/tokenizer_json.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/json_fields.h"
#include "base/log.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_json.h"

namespace {

evener::Status add_config(std::string_view text, evener::tokenizer::Vocab& vocab) {
  ASSIGN_OR_RETURN(const auto value, evener::json::parse(text, "fuzz"));
  ASSIGN_OR_RETURN(const auto config, evener::json::Fields::of(value, "fuzz"));
  return evener::tokenizer::add_tokenizer_config(config, vocab);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = (evener::log::set_level(evener::log::Level::error), true);
  (void)quiet;
  namespace tokenizer = evener::tokenizer;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kLine = "\n---\n";
  const size_t line = std::min(text.find(kLine), size);
  auto vocab = tokenizer::read_tokenizer_json(text.substr(0, line), "fuzz");
  if (!vocab) {
    EVENER_ASSERT(!vocab.error().why.empty());
    return 0;
  }
  if (line < size && !add_config(text.substr(line + kLine.size()), *vocab)) return 0;
  const auto made = tokenizer::Tokenizer::create(*std::move(vocab));
  if (!made) return 0;
  for (const std::string_view tried :
       {std::string_view("ab 12 <u>\u00e9e\u0301\n"), text.substr(0, 200)}) {
    const auto ids =
        (*made)->encode(tried, {.special = tokenizer::SpecialTokens::parse, .add_special = true});
    for (const auto id : ids) EVENER_ASSERT(id >= 0 && size_t(id) < (*made)->size());
    (void)(*made)->decode(ids, {.skip_special = true});
  }
  return 0;
}
