#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evener::quant {

// What codes stand for, before the scale. Both kinds find the level nearest to a value; a value
// that is not a number counts as the lowest.

// Whole numbers lowest..highest, code 0 the lowest.
struct WholeLevels {
  float lowest;
  float highest;

  float nearest(float value) const {
    value = value > lowest ? value : lowest;
    value = value < highest ? value : highest;
    constexpr float kNoRoomForFractions = 0x1.8p23f;  // rounds as std::rint does, in any vector
    return value + kNoRoomForFractions - kNoRoomForFractions;
  }
  int code(float value) const { return int(nearest(value) - lowest); }
};

// Sixteen whole numbers, at most 255 apart. Half way between two of them is a multiple of 1/2, so
// within a step of 1/2 the nearest is the same, and a table has them all.
class TableLevels {
 public:
  consteval explicit TableLevels(const int8_t (&levels)[16]) {
    lowest_ = highest_ = levels[0];
    for (size_t code = 0; code < 16; ++code) {
      levels_[code] = levels[code];
      lowest_ = levels_[code] < lowest_ ? levels_[code] : lowest_;
      highest_ = levels_[code] > highest_ ? levels_[code] : highest_;
    }
    for (size_t step = 0; step < codes_.size(); ++step) {
      codes_[step] = nearest_code(lowest_ + (float(step) + 0.5f) / 2);
    }
  }

  float nearest(float value) const { return levels_[size_t(code(value))]; }
  int code(float value) const {
    value = value > lowest_ ? value : lowest_;
    value = value < highest_ ? value : highest_;
    return codes_[size_t((value - lowest_) * 2)];
  }

 private:
  consteval uint8_t nearest_code(float value) const {
    const auto distance = [&](uint8_t code) {
      return levels_[code] < value ? value - levels_[code] : levels_[code] - value;
    };
    uint8_t best = 0;
    for (uint8_t code = 1; code < 16; ++code) best = distance(code) < distance(best) ? code : best;
    return best;
  }

  float lowest_ = 0;
  float highest_ = 0;
  std::array<float, 16> levels_{};
  std::array<uint8_t, 512> codes_{};
};

}  // namespace evener::quant
