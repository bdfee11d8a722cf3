#include "bench/prompts/text_stream.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace evener::bench {
namespace {

constexpr std::array<std::string_view, 24> kWho = {
    "The miller",     "A young sailor", "The old teacher", "My neighbour",  "The night guard",
    "A quiet farmer", "The baker",      "Her brother",     "The gardener",  "A tired driver",
    "The captain",    "His daughter",   "The stranger",    "A small child", "The doctor",
    "The painter",    "A shepherd",     "The clock maker", "Our cousin",    "The librarian",
    "A fisherman",    "The mayor",      "The carpenter",   "An engineer"};
constexpr std::array<std::string_view, 24> kDid = {
    "carried", "found",    "painted", "lost",     "repaired", "watched", "sold",    "measured",
    "hid",     "borrowed", "opened",  "followed", "cleaned",  "drew",    "counted", "remembered",
    "brought", "buried",   "lifted",  "forgot",   "built",    "kept",    "heard",   "described"};
constexpr std::array<std::string_view, 24> kWhat = {
    "a green lantern",  "the broken clock", "two heavy boxes",   "a letter",
    "the last apple",   "an empty boat",    "the copper kettle", "a long rope",
    "the wooden gate",  "seven stones",     "a torn map",        "the garden bell",
    "a bag of salt",    "the winter coat",  "a silver coin",     "the red bicycle",
    "an old song",      "the stone bridge", "a loaf of bread",   "the north door",
    "a flock of geese", "the iron key",     "a paper kite",      "the narrow path"};
constexpr std::array<std::string_view, 24> kWhere = {"near the river",
                                                     "behind the mill",
                                                     "at the edge of the forest",
                                                     "in the market",
                                                     "under the tall tower",
                                                     "before the storm",
                                                     "on the way to the harbour",
                                                     "after the harvest",
                                                     "in the early morning",
                                                     "beside the railway",
                                                     "at the end of the street",
                                                     "during the night",
                                                     "across the valley",
                                                     "by the frozen lake",
                                                     "in front of the school",
                                                     "without a word",
                                                     "on a cold evening",
                                                     "above the old cellar",
                                                     "for the third time",
                                                     "with great care",
                                                     "close to the old well",
                                                     "in spite of the rain",
                                                     "at the first light",
                                                     "between two hills"};

constexpr std::array<std::string_view, 12> kVerb = {"sum",   "scale", "merge", "count",
                                                    "clip",  "shift", "split", "filter",
                                                    "group", "find",  "sort",  "check"};
constexpr std::array<std::string_view, 12> kNoun = {"rows",   "values", "names",  "orders",
                                                    "points", "lines",  "prices", "records",
                                                    "files",  "scores", "pages",  "steps"};

std::string sentence(TextStream::Decks& decks, std::mt19937_64& random) {
  const std::string_view who = kWho[decks[0].draw(kWho.size(), random)];
  const std::string_view did = kDid[decks[1].draw(kDid.size(), random)];
  const std::string_view what = kWhat[decks[2].draw(kWhat.size(), random)];
  const std::string_view where = kWhere[decks[3].draw(kWhere.size(), random)];
  return fmt::format(" {} {} {} {}.", who, did, what, where);
}

std::string function(TextStream::Decks& decks, std::mt19937_64& random) {
  const std::string_view verb = kVerb[decks[0].draw(kVerb.size(), random)];
  const std::string_view noun = kNoun[decks[1].draw(kNoun.size(), random)];
  const unsigned limit = 10 + unsigned(random() % 90);
  switch (decks[2].draw(3, random)) {
    case 0:
      return fmt::format(
          "\n\ndef {0}_{1}({1}, limit={2}):\n    total = 0\n    for item in {1}:\n"
          "        if item > limit:\n            total += item\n    return total",
          verb, noun, limit);
    case 1:
      return fmt::format(
          "\n\ndef {0}_{1}_by_key({1}, key):\n    result = {{}}\n    for item in {1}:\n"
          "        result.setdefault(item[key], []).append(item)\n    return result",
          verb, noun);
    default:
      return fmt::format(
          "\n\ndef {0}_all_{1}({1}, step={2}):\n    out = []\n"
          "    for index, item in enumerate({1}):\n        if index % step == 0:\n"
          "            out.append(item)\n    return out",
          verb, noun, limit);
  }
}

// Four digits always, so that a number is as many tokens at the end as at the beginning.
std::string number(uint64_t index) { return fmt::format(" {}", 1000 + index % 9000); }

bool is_space(char c) { return c == ' ' || c == '\n'; }

}  // namespace

size_t TextStream::Deck::draw(size_t num_cards, std::mt19937_64& random) {
  if (cards_.empty()) {
    for (size_t i = 0; i < num_cards; ++i) {
      cards_.push_back(i);
      std::swap(cards_[i], cards_[random() % (i + 1)]);  // a rule that is the same everywhere
    }
  }
  const size_t card = cards_.back();
  cards_.pop_back();
  return card;
}

void TextStream::grow() {
  const size_t begin = text_.size();
  switch (kind_) {
    case TextKind::prose:
      text_ += sentence(decks_, random_);
      break;
    case TextKind::code:
      text_ += function(decks_, random_);
      break;
    case TextKind::counting:
      text_ += number(num_parts_);
      break;
  }
  ++num_parts_;
  for (size_t i = begin + 1; i <= text_.size(); ++i) {
    const bool ends = i == text_.size() || is_space(text_[i]);
    if (ends && !is_space(text_[i - 1])) word_ends_.push_back(i);
  }
}

std::string_view TextStream::first(size_t num_words) {
  if (num_words == 0) return {};
  while (word_ends_.size() < num_words) grow();
  std::string_view text = std::string_view(text_).substr(0, word_ends_[num_words - 1]);
  text.remove_prefix(text.find_first_not_of(" \n"));
  return text;
}

std::string_view request_for_more(TextKind kind) {
  switch (kind) {
    case TextKind::prose:
      return "Go on with this story for many pages.";
    case TextKind::code:
      return "Write many more functions like these, code only.";
    case TextKind::counting:
      return "Count on from 1000 to 9999, every number.";
  }
  return {};
}

}  // namespace evener::bench
