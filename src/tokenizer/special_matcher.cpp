#include "tokenizer/special_matcher.h"

#include <algorithm>
#include <functional>

#include "base/utf8.h"
#include "tokenizer/characters.h"

namespace evener::tokenizer {
namespace {

bool has_flag(const AddedToken& token) {
  return token.strip_left || token.strip_right || token.single_word || token.normalized;
}

size_t white_space_behind(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size()) {
    const utf8::Decoded decoded = utf8::decode(text, end);
    if (!decoded.valid || !is_white_space(decoded.code_point)) break;
    end += decoded.num_bytes;
  }
  return end;
}

// Where the white space begins that ends at `end`; not before `least`.
size_t white_space_before(std::string_view text, size_t end, size_t least) {
  while (end > least) {
    size_t begin = end - 1;
    while (begin > least && end - begin < 4 && (uint8_t(text[begin]) & 0xC0) == 0x80) --begin;
    const utf8::Decoded decoded = utf8::decode(text, begin);
    if (!decoded.valid || begin + decoded.num_bytes != end || !is_white_space(decoded.code_point)) {
      break;
    }
    end = begin;
  }
  return end;
}

bool word_begins(std::string_view text) {
  const utf8::Decoded decoded = utf8::decode(text, 0);
  return decoded.valid && is_word_character(decoded.code_point);
}

bool word_ends(std::string_view text) {
  if (text.empty()) return false;
  size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 && (uint8_t(text[begin]) & 0xC0) == 0x80) --begin;
  return word_begins(text.substr(begin));
}

size_t first_pair(std::string_view text) {
  return size_t{uint8_t(text[0])} << 8 | uint8_t(text[1]);
}

}  // namespace

SpecialMatcher::SpecialMatcher(const Vocab& vocab, const TokenTable& table)
    : table_(&table), special_kinds_(vocab.kinds) {
  const std::vector<std::string>& spellings = vocab.tokens;
  for (const AddedToken& token : vocab.added) {
    if (token.id >= 0 && size_t(token.id) < spellings.size() && has_flag(token)) {
      flags_.push_back(token);
    }
  }
  std::ranges::sort(flags_, {}, &AddedToken::id);
  for (size_t id = 0; id < spellings.size(); ++id) {
    TokenKind& kind = special_kinds_[id];
    const bool special =
        kind == TokenKind::user_defined || kind == TokenKind::control || kind == TokenKind::unknown;
    if (!special || spellings[id].empty()) {
      kind = TokenKind::normal;
      continue;
    }
    lengths_by_first_byte_[uint8_t(spellings[id][0])].push_back(spellings[id].size());
    if (spellings[id].size() > 1) first_pairs_[first_pair(spellings[id])] = true;
  }
  for (auto& lengths : lengths_by_first_byte_) {
    std::ranges::sort(lengths, std::greater<>());
    const auto repeated = std::ranges::unique(lengths);
    lengths.erase(repeated.begin(), repeated.end());
  }
}

bool SpecialMatcher::goes_later(const Place& a, const Place& b) {
  if (a.size != b.size) return a.size < b.size;
  if (a.id != b.id) return a.id > b.id;
  return a.begin > b.begin;
}

bool SpecialMatcher::may_begin(std::string_view text) const {
  const auto& lengths = lengths_by_first_byte_[uint8_t(text[0])];
  if (lengths.empty()) return false;
  return lengths.back() == 1 || (text.size() > 1 && first_pairs_[first_pair(text)]);
}

std::optional<SpecialMatcher::Place> SpecialMatcher::longest_at(std::string_view text, size_t begin,
                                                                size_t size_max,
                                                                SpecialTokens special) const {
  for (const size_t size : lengths_by_first_byte_[uint8_t(text[begin])]) {
    if (size > size_max) continue;
    const auto id = table_->find(text.substr(begin, size));
    if (!id) continue;
    const TokenKind kind = special_kinds_[size_t(*id)];
    if (kind == TokenKind::normal) continue;
    if (special == SpecialTokens::plain && kind != TokenKind::user_defined) continue;
    const AddedToken* flags = flags_of(*id);
    if (flags != nullptr && flags->single_word &&
        (word_ends(text.substr(0, begin)) || word_begins(text.substr(begin + size)))) {
      continue;
    }
    return Place{.begin = begin, .size = size, .id = *id};
  }
  return {};
}

std::vector<SpecialMatcher::Place> SpecialMatcher::choose(std::string_view text,
                                                          SpecialTokens special) const {
  std::vector<Place> waiting;  // a heap: at each position the longest token that may still fit
  for (size_t begin = 0; begin < text.size(); ++begin) {
    if (!may_begin(text.substr(begin))) continue;
    if (auto place = longest_at(text, begin, text.size() - begin, special)) {
      waiting.push_back(*place);
    }
  }
  std::vector<Place> chosen;
  if (waiting.empty()) return chosen;
  std::vector<bool> taken(text.size());
  std::ranges::make_heap(waiting, goes_later);
  while (!waiting.empty()) {
    std::ranges::pop_heap(waiting, goes_later);
    const Place place = waiting.back();
    waiting.pop_back();
    const auto begin = taken.begin() + ptrdiff_t(place.begin);
    const auto end = begin + ptrdiff_t(place.size);
    const auto free_end = std::find(begin, end, true);
    if (free_end == end) {
      std::fill(begin, end, true);
      chosen.push_back(place);
    } else if (auto shorter = longest_at(text, place.begin, size_t(free_end - begin), special)) {
      waiting.push_back(*shorter);
      std::ranges::push_heap(waiting, goes_later);
    }
  }
  std::ranges::sort(chosen, {}, &Place::begin);
  return chosen;
}

const AddedToken* SpecialMatcher::flags_of(TokenId id) const {
  const auto at = std::ranges::lower_bound(flags_, id, {}, &AddedToken::id);
  return at != flags_.end() && at->id == id ? &*at : nullptr;
}

bool SpecialMatcher::is_normalized(TokenId id) const {
  const AddedToken* flags = flags_of(id);
  return flags != nullptr && flags->normalized;
}

void SpecialMatcher::widen(std::string_view text, std::vector<Place>& places) const {
  size_t done = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    Place& place = places[i];
    size_t end = place.begin + place.size;
    if (const AddedToken* flags = flags_of(place.id)) {
      if (flags->strip_left) place.begin = white_space_before(text, place.begin, done);
      const size_t next = i + 1 < places.size() ? places[i + 1].begin : text.size();
      if (flags->strip_right) end = white_space_behind(text.substr(0, next), end);
      place.size = end - place.begin;
    }
    done = end;
  }
}

std::vector<Fragment> SpecialMatcher::partition(std::string_view text,
                                                SpecialTokens special) const {
  std::vector<Fragment> fragments;
  size_t done = 0;
  std::vector<Place> places = choose(text, special);
  if (!flags_.empty()) widen(text, places);
  for (const Place& place : places) {
    if (place.begin > done) fragments.push_back({.text = text.substr(done, place.begin - done)});
    fragments.push_back({.text = text.substr(place.begin, place.size), .id = place.id});
    done = place.begin + place.size;
  }
  if (done < text.size()) fragments.push_back({.text = text.substr(done)});
  return fragments;
}

}  // namespace evener::tokenizer
