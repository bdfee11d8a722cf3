// How fast the tiers below the device keep and give back entries:
//
//   tiers_bench --folder DIR [--kilobytes 8192] [--entries 64] [--files 10000]
//
// Prints the rate of put and get in RAM and on disk (written to the device, then read from the
// system's cache of files and, where it can be emptied, from the disk itself), and how long a
// restart takes that finds many files. DIR is made, and emptied of entries afterwards.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/log.h"
#include "cache/tiers.h"

namespace evener::bench {
namespace {

struct Options {
  std::string folder;
  size_t kilobytes = 8192;
  size_t entries = 64;
  size_t files = 10'000;
};

cache::EntryKey key_of(uint64_t number) { return {.high = 1, .low = number}; }

template <class Work>
double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void put_all(cache::Tiers& tiers, size_t count, size_t size, uint64_t first = 0) {
  for (uint64_t number = first; number < first + count; ++number) {
    tiers.put(
        key_of(number), size,
        [&](std::span<std::byte> bytes) {
          std::memset(bytes.data(), int(number), bytes.size());
          return true;
        },
        cache::WhenBusy::wait);
  }
  tiers.finish();
}

void get_all(cache::Tiers& tiers, size_t count, size_t size, uint64_t first = 0) {
  for (uint64_t number = first; number < first + count; ++number) {
    (void)tiers.get(key_of(number), size);
  }
}

std::unique_ptr<cache::Tiers> open(const Options& options, uint64_t memory_bytes) {
  return cache::Tiers::create({.memory_bytes_max = memory_bytes,
                               .disk = {.folder = options.folder,
                                        .bytes_max = uint64_t{1} << 40,
                                        .identity = "tiers_bench"}},
                              {});
}

// Asks the system to forget what it keeps of each file.
void forget_files(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ::fdatasync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

void print(const char* what, size_t bytes, double time) {
  fmt::print("{:<28} {:8.0f} MB/s\n", what, double(bytes) / time / 1e6);
}

void measure_memory(const Options& options) {
  const size_t size = options.kilobytes * 1024;
  const size_t count = options.entries;
  const size_t all = count * size;
  const auto tiers = cache::Tiers::create({.memory_bytes_max = all + count * 256, .disk = {}}, {});
  print("RAM, put, fresh memory", all, seconds([&] { put_all(*tiers, count, size); }));
  print("RAM, put, evicting", all, seconds([&] { put_all(*tiers, count, size, count); }));
  const double time = seconds([&] { get_all(*tiers, count, size, count); });
  fmt::print("{:<28} {:8.2f} us an entry\n", "RAM, get", time * 1e6 / double(count));
}

void measure_disk(const Options& options) {
  const size_t size = options.kilobytes * 1024;
  const size_t all = options.entries * size;
  auto tiers = open(options, 0);
  print("disk, put until written", all, seconds([&] { put_all(*tiers, options.entries, size); }));
  print("disk, get, cached files", all, seconds([&] { get_all(*tiers, options.entries, size); }));
  forget_files(options.folder);
  print("disk, get", all, seconds([&] { get_all(*tiers, options.entries, size); }));
  for (uint64_t number = 0; number < options.entries; ++number) tiers->erase(key_of(number));
}

void measure_restart(const Options& options) {
  constexpr size_t kSize = 1000;
  auto tiers = open(options, 0);
  const double put = seconds([&] { put_all(*tiers, options.files, kSize); });
  tiers.reset();
  const double reopen = seconds([&] { tiers = open(options, 0); });
  fmt::print("{} files of {} bytes: written in {:.2f} s, restart {:.0f} ms, {} entries found\n",
             options.files, kSize, put, reopen * 1e3, tiers->stats().disk.num_entries);
  for (uint64_t number = 0; number < options.files; ++number) tiers->erase(key_of(number));
}

}  // namespace
}  // namespace evener::bench

int main(int argc, char** argv) {
  evener::bench::Options options;
  CLI::App app("speed of the tiers in RAM and on disk");
  app.add_option("--folder", options.folder)->required();
  app.add_option("--kilobytes", options.kilobytes)->check(CLI::PositiveNumber);
  app.add_option("--entries", options.entries)->check(CLI::PositiveNumber);
  app.add_option("--files", options.files)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  evener::log::set_level(evener::log::Level::warning);
  evener::bench::measure_memory(options);
  evener::bench::measure_disk(options);
  evener::bench::measure_restart(options);
  return 0;
}
