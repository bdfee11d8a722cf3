#include "tokenizer/special_matcher.h"

#include <algorithm>
#include <functional>

namespace evener::tokenizer {
namespace {

size_t first_pair(std::string_view text) {
  return size_t{uint8_t(text[0])} << 8 | uint8_t(text[1]);
}

}  // namespace

SpecialMatcher::SpecialMatcher(std::span<const std::string> spellings,
                               std::span<const TokenKind> kinds, const TokenTable& table)
    : table_(&table), special_kinds_(kinds.begin(), kinds.end()) {
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

std::vector<Fragment> SpecialMatcher::partition(std::string_view text,
                                                SpecialTokens special) const {
  std::vector<Fragment> fragments;
  size_t done = 0;
  for (const Place& place : choose(text, special)) {
    if (place.begin > done) fragments.push_back({.text = text.substr(done, place.begin - done)});
    fragments.push_back({.text = text.substr(place.begin, place.size), .id = place.id});
    done = place.begin + place.size;
  }
  if (done < text.size()) fragments.push_back({.text = text.substr(done)});
  return fragments;
}

}  // namespace evener::tokenizer
