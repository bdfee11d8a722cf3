#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cache/tiers.h"

namespace evener::cache {

using Bytes = std::vector<std::byte>;

// With the files of a tier in it.
class ScratchFolder : public TemporaryFolder {
 public:
  // Names that end so, in no order.
  std::vector<std::string> names(const std::string& ending) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(ending)) found.push_back(name);
    }
    return found;
  }
};

inline EntryKey key_of(uint64_t number, EntryKey::Kind kind = EntryKey::Kind::page) {
  return {.high = number * 0x9e3779b97f4a7c15, .low = number, .kind = kind};
}

// Bytes that follow from the number.
inline Bytes content(uint64_t number, size_t size) {
  std::mt19937_64 random(number);
  Bytes bytes(size);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, size - i));
  }
  return bytes;
}

template <class Store>
void put(Store& store, uint64_t number, size_t size, WhenBusy when_busy = WhenBusy::wait) {
  const Bytes bytes = content(number, size);
  store.put(
      key_of(number), size,
      [&](std::span<std::byte> to) {
        std::ranges::copy(bytes, to.begin());
        return true;
      },
      when_busy);
}

inline void put(DiskTier& disk, uint64_t number, size_t size, WhenBusy when_busy = WhenBusy::wait) {
  const EntryBytes bytes = EntryBytes::allocate(size);
  std::ranges::copy(content(number, size), bytes.span().begin());
  disk.put(key_of(number), bytes, when_busy);
}

// Whether the entry is there as it was put.
template <class Store>
bool has(Store& store, uint64_t number, size_t size) {
  const EntryBytes bytes = store.get(key_of(number), size);
  return bytes && std::ranges::equal(bytes.span(), content(number, size));
}

inline std::unique_ptr<DiskTier> open_disk(const std::filesystem::path& folder,
                                           uint64_t bytes_max = 1 << 30,
                                           const std::string& identity = "model") {
  auto disk = DiskTier::open({.folder = folder, .bytes_max = bytes_max, .identity = identity}, {});
  EXPECT_TRUE(disk.has_value()) << (disk ? "" : to_string(disk.error()));
  return disk ? *std::move(disk) : nullptr;
}

inline Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes;
  for (std::istreambuf_iterator<char> it(file), end; it != end; ++it) {
    bytes.push_back(std::byte(*it));
  }
  return bytes;
}

inline void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::remove(path);  // some file systems wait for the disk when a file is overwritten
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

}  // namespace evener::cache
