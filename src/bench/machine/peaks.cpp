#include "bench/machine/peaks.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "device/cpu/isa.h"

namespace evener::bench {
namespace {

constexpr size_t kWordsPerPiece = size_t{1} << 17;

uint64_t sum_of(std::span<const uint64_t> words) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= words.size(); i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  return std::accumulate(std::begin(sums), std::end(sums), uint64_t{0});
}

}  // namespace

BigMemory::BigMemory(ThreadPool& pool, size_t size_bytes)
    : num_words_(std::max<size_t>(size_bytes / sizeof(uint64_t) / kWordsPerPiece, 1) *
                 kWordsPerPiece),
      words_(std::make_unique_for_overwrite<uint64_t[]>(num_words_)) {
  pool.parallel_for(num_words_ / kWordsPerPiece, 1, [&](size_t begin, size_t end) {
    std::iota(words_.get() + begin * kWordsPerPiece, words_.get() + end * kWordsPerPiece,
              uint64_t{begin});
  });
}

uint64_t BigMemory::read(ThreadPool& pool) const {
  std::atomic<uint64_t> sum = 0;
  pool.parallel_for(num_words_ / kWordsPerPiece, 1, [&](size_t begin, size_t end) {
    sum += sum_of({words_.get() + begin * kWordsPerPiece, (end - begin) * kWordsPerPiece});
  });
  return sum;
}

std::vector<const device::cpu::Peak*> available_peaks() {
  using namespace device::cpu;
  std::vector<const Peak*> peaks;
  for (const Isa isa : available_isas()) {
    const bool avx2 = isa == Isa::avx2;
    peaks.push_back(avx2 ? &peak_int8_avx2 : &peak_int8_avx512);
    peaks.push_back(avx2 ? &peak_f32_avx2 : &peak_f32_avx512);
  }
  return peaks;
}

uint64_t multiply_on_all(ThreadPool& pool, const device::cpu::Peak& peak, uint64_t num_turns) {
  std::atomic<uint64_t> sum = 0;
  pool.run([&](size_t) { sum += peak.multiply(num_turns); });
  return sum;
}

}  // namespace evener::bench
