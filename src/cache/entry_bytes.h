#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace evener::cache {

// The bytes of one entry, or none. Shared, since the thread that writes to disk may still read what
// memory gave up; nobody changes them once they are filled.
struct EntryBytes {
  std::shared_ptr<std::byte[]> data;
  size_t size_bytes = 0;

  // Not filled. None if the system gives no memory.
  static EntryBytes allocate(size_t size_bytes) {
    auto data = std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[size_bytes]);
    return data ? EntryBytes{std::move(data), size_bytes} : EntryBytes{};
  }

  explicit operator bool() const { return data != nullptr; }
  std::span<std::byte> span() const { return {data.get(), size_bytes}; }
};

}  // namespace evener::cache
