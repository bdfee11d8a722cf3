#include "bench/experiments/quality/needle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

namespace evener::bench {
namespace {

constexpr std::array kPlaces = {"the harbour",   "the observatory", "the old library",
                                "the salt mine", "the glass house", "the water tower",
                                "the vineyard",  "the lighthouse"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As a word of its own: 4821 is not found in 48213.
bool holds_number(std::string_view text, const std::string& digits) {
  for (size_t at = text.find(digits); at != std::string_view::npos;
       at = text.find(digits, at + 1)) {
    const size_t end = at + digits.size();
    const bool begins = at == 0 || !is_digit(text[at - 1]);
    const bool ends = end == text.size() || !is_digit(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::vector<Needle> make_needles(uint64_t seed, std::span<const unsigned> depths_percent) {
  std::mt19937_64 random(seed);
  const size_t first = random() % kPlaces.size();
  std::vector<Needle> needles;
  for (size_t i = 0; i < depths_percent.size(); ++i) {
    // Of five digits, the first of which tells needles of one text apart.
    const auto number = uint32_t(10'000 * (1 + i % 9) + random() % 10'000);
    needles.push_back({.place = kPlaces[(first + i) % kPlaces.size()],
                       .number = number,
                       .depth_percent = depths_percent[i]});
  }
  return needles;
}

std::string hide(std::span<const Needle> needles, std::string_view hay) {
  hay = hay.substr(0, hay.rfind("\n\n"));
  std::string text;
  size_t done = 0;
  for (const Needle& needle : needles) {
    const size_t wanted = std::max(done, hay.size() * needle.depth_percent / 100);
    const size_t stop = hay.find(". ", wanted);
    const size_t at = stop == std::string_view::npos ? hay.size() : stop + 1;
    text.append(hay.substr(done, at - done));
    text += fmt::format(" The secret number of {} is {}.", needle.place, needle.number);
    done = at;
  }
  text.append(hay.substr(done));
  std::string places;
  for (const Needle& needle : needles) places += (places.empty() ? "" : ", of ") + needle.place;
  return text + fmt::format(
                    "\n\nThe text says a secret number. What is the secret number of {}? Answer "
                    "with digits alone.",
                    places);
}

Judgement judge(std::span<const Needle> needles, std::string_view answer) {
  size_t num_found = 0;
  std::string missing;
  for (const Needle& needle : needles) {
    if (holds_number(answer, std::to_string(needle.number))) {
      ++num_found;
    } else {
      missing += fmt::format("{}{} of {} at {} %", missing.empty() ? "not said: " : ", ",
                             needle.number, needle.place, needle.depth_percent);
    }
  }
  return {.score = double(num_found) / double(needles.size()), .why = missing};
}

}  // namespace evener::bench
