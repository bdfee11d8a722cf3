#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace evener::serve {

class GenerationJob;

// The answers that are being made, by the names under which their clients know them, for who wants
// to end one from another connection. Any thread.
class RunningAnswers {
 public:
  struct Names {
    std::string answer_id;   // "chatcmpl-..."
    std::string request_id;  // x-request-id
    uint64_t owner = 0;      // only the same may name it: Caller::salt
  };

  void add(Names names, const std::shared_ptr<GenerationJob>& job);
  void remove(const GenerationJob& job);  // unknown ones are ignored

  // Ends those of `owner` with that answer's or request's id; returns how many there were.
  size_t abort(uint64_t owner, std::string_view id);

 private:
  struct Entry {
    Names names;
    std::weak_ptr<GenerationJob> job;
  };

  std::mutex mutex_;
  std::unordered_map<const GenerationJob*, Entry> entries_;
};

}  // namespace evener::serve
