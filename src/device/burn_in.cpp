#include "device/burn_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace evener::device {
namespace {

using Clock = std::chrono::steady_clock;

// What word i of a pattern is. Addresses find words that land elsewhere, the others bits that stick
// or are swapped.
using Pattern = uint32_t (*)(size_t i);
uint32_t zeros(size_t) { return 0; }
uint32_t ones(size_t) { return UINT32_MAX; }
uint32_t addresses(size_t i) { return uint32_t(i * sizeof(uint32_t)) ^ 0xa5000000; }
uint32_t random_words(size_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
  return uint32_t(x >> 32);
}

constexpr size_t kSomeWords[] = {1, 1031, (size_t{1} << 18) + 1};
constexpr size_t kNumRounds = 4;  // of a measure; the first is not counted

Error failed(const Device& device, std::string why) {
  return Error{.code = Code::unavailable,
               .doing = "test the way between cards",
               .where = device.info().name,
               .why = std::move(why),
               .remedy = "data go through the host"};
}

// Words on both devices.
class WordPair {
 public:
  static Result<WordPair> create(Device& from, Device& to, size_t count) {
    WordPair pair(from, to);
    ASSIGN_OR_RETURN(pair.x_memory_, from.allocate(count * sizeof(float)));
    ASSIGN_OR_RETURN(pair.y_memory_, to.allocate(count * sizeof(float)));
    return pair;
  }

  Tensor x(size_t count) const { return {x_memory_.get(), 0, 1, count, count}; }
  Tensor y(size_t count) const { return {y_memory_.get(), 0, 1, count, count}; }

  Status check(PeerLink& link, size_t slot, Pattern pattern, size_t count) {
    std::vector<float> words(count);
    // What is not overwritten is wrong.
    for (size_t i = 0; i < count; ++i) words[i] = std::bit_cast<float>(~pattern(i));
    to_.write(words, y(count));
    for (size_t i = 0; i < count; ++i) words[i] = std::bit_cast<float>(pattern(i));
    from_.write(words, x(count));
    if (!link.send(slot, x(count))) return failed(from_, "it does not send");
    if (!link.take(slot, y(count))) return failed(to_, "it does not receive");
    to_.read(y(count), words);
    RETURN_IF_ERROR(to_.status());
    for (size_t i = 0; i < count; ++i) {
      const auto got = std::bit_cast<uint32_t>(words[i]);
      if (got == pattern(i)) continue;
      return failed(to_, fmt::format("word {} of {} was {:#010x} instead of {:#010x}", i, count,
                                     got, pattern(i)));
    }
    return {};
  }

  // f() leaves its words in y.
  template <class F>
  Result<double> bytes_per_s(size_t count, F f) {
    auto best = Clock::duration::max();
    for (size_t round = 0; round < kNumRounds; ++round) {
      float last = 0;
      to_.read(y(1), {&last, 1});  // nothing is under way
      const Clock::time_point began = Clock::now();
      f();
      to_.read(y(1), {&last, 1});
      if (round > 0) best = std::min(best, Clock::now() - began);
    }
    RETURN_IF_ERROR(from_.status());
    RETURN_IF_ERROR(to_.status());
    return double(count * sizeof(float)) / std::chrono::duration<double>(best).count();
  }

 private:
  WordPair(Device& from, Device& to) : from_(from), to_(to) {}

  Device& from_;
  Device& to_;
  std::unique_ptr<Buffer> x_memory_;
  std::unique_ptr<Buffer> y_memory_;
};

}  // namespace

Status burn_in(PeerLink& link, Device& from, Device& to) {
  const size_t all = link.slot_bytes() / sizeof(float);
  ASSIGN_OR_RETURN(WordPair words, WordPair::create(from, to, all));
  for (const size_t count : kSomeWords) {
    if (count > all) continue;
    for (const Pattern pattern : {zeros, ones, addresses, random_words}) {
      for (size_t slot = 0; slot < PeerLink::kNumSlots; ++slot) {
        RETURN_IF_ERROR(words.check(link, slot, pattern, count));
      }
    }
  }
  RETURN_IF_ERROR(words.check(link, 0, random_words, all));
  return words.check(link, 1, addresses, all);
}

Result<double> direct_bytes_per_s(PeerLink& link, Device& from, Device& to) {
  const size_t count = link.slot_bytes() / sizeof(float);
  ASSIGN_OR_RETURN(WordPair words, WordPair::create(from, to, count));
  return words.bytes_per_s(count, [&] {
    if (link.send(0, words.x(count))) link.take(0, words.y(count));
  });
}

Result<double> host_bytes_per_s(Device& from, Device& to, size_t size_bytes) {
  const size_t count = size_bytes / sizeof(float);
  ASSIGN_OR_RETURN(WordPair words, WordPair::create(from, to, count));
  std::vector<float> values(count);
  return words.bytes_per_s(count, [&] {
    from.read(words.x(count), values);
    to.write(values, words.y(count));
  });
}

}  // namespace evener::device
