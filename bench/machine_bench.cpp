// What this machine can do at most, to hold the kernels' figures against:
//
//   machine_bench [--threads 1,2] [--megabytes 1024] [--rounds 5]
//
// Prints how fast the threads together read memory that is in no cache, and how many multiply-adds
// their units can do with 8-bit integers (two instructions for 32 with AVX2, one for 64 with
// AVX-512 VNNI) and with f32. The best round counts, as in linear_bench.
#include <fmt/format.h>

// gcc 12 takes its own headers' undefined values for mistakes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "best_seconds.h"

namespace evener::bench {
namespace {

struct Options {
  std::vector<size_t> threads = {1, 2};
  size_t megabytes = 1024;
  size_t rounds = 5;
};

std::atomic<uint64_t> sink;  // results go here, so that no work is left out

uint64_t sum_of(const uint64_t* words, size_t count) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  return std::accumulate(std::begin(sums), std::end(sums), uint64_t{0});
}

double read_gigabytes(ThreadPool& pool, const std::vector<uint64_t>& words, size_t rounds) {
  constexpr size_t kWordsPerPiece = size_t{1} << 17;
  const double seconds = best_seconds(rounds, [&] {
    pool.parallel_for(words.size() / kWordsPerPiece, 1, [&](size_t begin, size_t end) {
      sink += sum_of(words.data() + begin * kWordsPerPiece, (end - begin) * kWordsPerPiece);
    });
  });
  return double(words.size() * sizeof(uint64_t)) / seconds / 1e9;
}

// Chains that do not wait for each other: enough to keep two units busy for five cycles.
constexpr size_t kChains = 12;
constexpr size_t kTurns = 1 << 22;

__attribute__((target("avx2"))) uint64_t multiply_bytes_avx2() {
  __m256i sums[kChains] = {};
  __m256i codes = _mm256_set1_epi8(3);
  const __m256i x = _mm256_set1_epi8(1);
  for (size_t turn = 0; turn < kTurns; ++turn) {
    for (__m256i& sum : sums) {
      __asm__ volatile("" : "+x"(codes));  // not the same products as before
      sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(codes, x));
    }
  }
  for (const __m256i& sum : sums) codes = _mm256_xor_si256(codes, sum);
  return uint64_t(_mm256_extract_epi64(codes, 0));
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) uint64_t multiply_bytes_vnni() {
  __m512i sums[kChains] = {};
  __m512i codes = _mm512_set1_epi8(3);
  const __m512i x = _mm512_set1_epi8(1);
  for (size_t turn = 0; turn < kTurns; ++turn) {
    for (__m512i& sum : sums) {
      __asm__ volatile("" : "+v"(codes));
      sum = _mm512_dpbusd_epi32(sum, codes, x);
    }
  }
  for (const __m512i& sum : sums) codes = _mm512_xor_si512(codes, sum);
  alignas(64) uint64_t words[8];
  _mm512_store_si512(words, codes);
  return words[0];
}

__attribute__((target("avx2,fma"))) uint64_t multiply_floats_avx2() {
  __m256 sums[kChains] = {};
  __m256 weights = _mm256_set1_ps(0.5f);
  const __m256 x = _mm256_set1_ps(1);
  for (size_t turn = 0; turn < kTurns; ++turn) {
    for (__m256& sum : sums) {
      __asm__ volatile("" : "+x"(weights));
      sum = _mm256_fmadd_ps(weights, x, sum);
    }
  }
  for (const __m256& sum : sums) weights = _mm256_add_ps(weights, sum);
  return uint64_t(_mm256_cvtss_f32(weights));
}

void print_peak(ThreadPool& pool, size_t rounds, std::string_view what, size_t macs_a_turn,
                uint64_t (*multiply)()) {
  const double seconds =
      best_seconds(rounds, [&] { pool.run([&](size_t) { sink += multiply(); }); });
  const double macs = double(macs_a_turn * kChains * kTurns * pool.num_threads());
  fmt::print("{:2} threads  {:<28}{:>9.1f} GMAC/s\n", pool.num_threads(), what,
             macs / seconds / 1e9);
}

Result<void> run(const Options& options) {
  std::vector<uint64_t> words(options.megabytes * 1'000'000 / sizeof(uint64_t));
  std::iota(words.begin(), words.end(), 0);
  for (const size_t num_threads : options.threads) {
    std::vector<int> cpus(num_threads);
    std::iota(cpus.begin(), cpus.end(), 0);
    ASSIGN_OR_RETURN(const auto pool, ThreadPool::create(cpus));
    fmt::print("{:2} threads  {:<28}{:>9.1f} GB/s\n", num_threads, "read memory",
               read_gigabytes(*pool, words, options.rounds));
    print_peak(*pool, options.rounds, "8-bit integers, AVX2", 32, multiply_bytes_avx2);
    if (__builtin_cpu_supports("avx512vnni")) {
      print_peak(*pool, options.rounds, "8-bit integers, AVX-512 VNNI", 64, multiply_bytes_vnni);
    }
    print_peak(*pool, options.rounds, "f32, AVX2", 8, multiply_floats_avx2);
  }
  return {};
}

}  // namespace
}  // namespace evener::bench

int main(int argc, char** argv) {
  evener::bench::Options options;
  CLI::App app("What this machine can do at most");
  app.add_option("--threads", options.threads)->delimiter(',')->check(CLI::Range(1, 256));
  app.add_option("--megabytes", options.megabytes)->check(CLI::Range(64, 1 << 16));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = evener::bench::run(options); !done) {
    fmt::print(stderr, "machine_bench: {}\n", to_string(done.error()));
    return 1;
  }
  return 0;
}
