#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/text.h"

namespace evener::parallel::mpi {

// What every process tells the others many times within the deadline, and at once when something
// ends: that it lives, and how its rank does.
struct ProcessState {
  uint64_t size = sizeof(ProcessState);  // first, so that other programs are noticed
  int64_t silent_ns = 0;                 // of the rank, as Heartbeats has it
  int64_t peer = -1;                     // that the rank waits for
  int64_t waits_ns = 0;
  uint64_t pass = 0;
  uint8_t broken = 0;   // `where` and `why` say how
  uint8_t ended = 0;    // the rank makes no more calls
  uint8_t leaving = 0;  // the process is about to end
  char host[64] = {};
  char label[64] = {};
  char doing[64] = {};
  char where[256] = {};
  char why[512] = {};
  char remedy[256] = {};
};

// Cut off where it does not fit.
template <size_t N>
void put_text(char (&to)[N], const std::string& text) {
  const size_t size = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), size);
  to[size] = 0;
}

// Printable, whatever another process has put there.
template <size_t N>
std::string get_text(const char (&from)[N]) {
  return printable({from, strnlen(from, N)}, N);
}

}  // namespace evener::parallel::mpi
