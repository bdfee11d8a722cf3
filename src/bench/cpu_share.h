#pragma once

#include <vector>

#include "host/file_tree.h"

namespace evener::bench {

// Which processors a server of ours and the client use, so that neither takes the other's time.
struct CpuShare {
  std::vector<int> client;  // empty: there are too few to divide, both use all
  std::vector<int> server;
};

// Of the `allowed` ones: the last core, with all its threads, for the client where there are at
// least four cores. `files` tells which are threads of one core.
CpuShare share_cpus(const std::vector<int>& allowed, const host::FileTree& files);

// That the calling thread may use.
std::vector<int> allowed_cpus();

// The processors that threads started by this one may use, while it lives. Empty: no change.
class CpuLimit {
 public:
  explicit CpuLimit(const std::vector<int>& cpus);
  ~CpuLimit();
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing was changed
};

// For a call between fork and exec, too: allocates nothing.
bool limit_this_thread(const std::vector<int>& cpus);

}  // namespace evener::bench
