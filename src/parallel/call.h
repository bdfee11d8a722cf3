#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace evener::parallel {

enum class CallKind { all_reduce, gather, broadcast, send, receive, comparison };
inline constexpr size_t kNumCallKinds = 6;

// A call of a Comm, as messages name it: the 17th all-reduce of a rank in a group.
struct Call {
  CallKind kind = CallKind::all_reduce;
  uint64_t number = 0;  // from 1; 0: none
};

std::string name_of(CallKind kind);     // "all-reduce"
std::string to_text(const Call& call);  // "all-reduce 17"

}  // namespace evener::parallel
