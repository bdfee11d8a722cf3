#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace evener::bench {

// The calls of one answer, put together from the pieces of a stream by their index.
class ToolCalls {
 public:
  // One element of "tool_calls", of a delta or of a whole message. `fallback_index` counts where
  // it has no index. Gives the text it adds (name, then arguments). False: it is none, or the
  // answer has more calls than kNumMax.
  bool add(const json::Value& piece, uint64_t fallback_index, std::string& text);

  bool empty() const { return calls_.empty(); }
  // [{"id":...,"type":"function","function":{"name":...,"arguments":"..."}}, ...]
  std::string to_json() const;

  static constexpr uint64_t kNumMax = 256;

 private:
  struct Call {
    std::string id;
    std::string name;
    std::string arguments;
  };
  std::vector<Call> calls_;
};

}  // namespace evener::bench
