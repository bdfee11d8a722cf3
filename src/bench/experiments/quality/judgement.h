#pragma once

#include <string>
#include <utility>

namespace evener::bench {

// What an answer is worth.
struct Judgement {
  double score = 0;  // 0..1
  std::string why;   // not right: what is wrong with it

  static Judgement right() { return {.score = 1, .why = {}}; }
  static Judgement wrong(std::string why) { return {.score = 0, .why = std::move(why)}; }
};

}  // namespace evener::bench
