#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/prompts.h"

namespace evener::bench {

// An endless text of one kind, the same for the same seed. Its words keep the whitespace before
// them, so that texts of any number of words can be cut from it, and a word is much the same number
// of tokens anywhere.
class TextStream {
 public:
  // Words are drawn like cards, each once before any comes again: tokens a word are then the same
  // in every part of the text, and can be learned from a short part.
  class Deck {
   public:
    size_t draw(size_t num_cards, std::mt19937_64& random);

   private:
    std::vector<size_t> cards_;
  };
  using Decks = std::array<Deck, 4>;

  TextStream(TextKind kind, uint64_t seed) : kind_(kind), random_(seed) {}

  // The first `num_words` words, without the whitespace at the beginning. Valid until the next
  // call.
  std::string_view first(size_t num_words);

 private:
  void grow();  // by a sentence, a function or a number

  TextKind kind_;
  std::mt19937_64 random_;
  Decks decks_;
  uint64_t num_parts_ = 0;
  std::string text_;
  std::vector<size_t> word_ends_;
};

// What a message of this kind asks for at its end: much more of the same.
std::string_view request_for_more(TextKind kind);

}  // namespace evener::bench
