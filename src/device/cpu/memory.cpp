#include "device/cpu/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "device/cpu/memory_limit.h"
#include "device/cpu/node_memory.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t n, size_t grain) { return (n + grain - 1) / grain * grain; }

Error out_of_memory(size_t size_bytes, std::string_view what, std::string why) {
  return Error{.code = Code::out_of_memory,
               .doing = fmt::format("allocate {} bytes", size_bytes),
               .where = std::string(what),
               .why = std::move(why),
               .remedy = "free memory, or use a smaller model, context or number of sequences"};
}

}  // namespace

Result<Memory> Memory::allocate(size_t size_bytes, std::string_view what, MemoryPlace place) {
  if (size_bytes > std::numeric_limits<size_t>::max() / 2) {
    return out_of_memory(size_bytes, what, "no machine has so much");
  }
  const bool huge = size_bytes >= kHugePage;
  // Asking costs some reads of files, which small ones are not worth.
  const size_t available = huge ? available_memory_bytes() : size_bytes;
  if (size_bytes > available) {
    return out_of_memory(size_bytes, what, fmt::format("only {} bytes are free", available));
  }
  // A large one is mapped with room to begin at a huge page.
  const size_t usable = round_up(size_bytes == 0 ? 1 : size_bytes, 64);
  const size_t mapped = huge ? round_up(usable, kHugePage) + kHugePage : usable;
  void* const mapping =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return out_of_memory(size_bytes, what, "the operating system has no more");
  }
  Memory memory;
  memory.mapping_ = mapping;
  memory.mapping_bytes_ = mapped;
  memory.size_bytes_ = size_bytes;
  memory.data_ = static_cast<std::byte*>(mapping);
  if (huge) {
    const size_t address = reinterpret_cast<uintptr_t>(mapping);
    memory.data_ += round_up(address, kHugePage) - address;
    madvise(memory.data_, round_up(usable, kHugePage), MADV_HUGEPAGE);  // advice: may fail
  }
  if (place.numa_node) {
    // If the system does not allow it, who touches a page first decides: a thread of the device.
    static_cast<void>(prefer_node({memory.data_, usable}, *place.numa_node));
  }
  return memory;
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  return *this;
}

Memory::~Memory() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

}  // namespace evener::device::cpu
