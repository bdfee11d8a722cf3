#include "serve/running_answers.h"

#include <utility>
#include <vector>

#include "serve/generation_job.h"

namespace evener::serve {

void RunningAnswers::add(Names names, const std::shared_ptr<GenerationJob>& job) {
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(job.get(), Entry{.names = std::move(names), .job = job});
}

void RunningAnswers::remove(const GenerationJob& job) {
  const std::lock_guard lock(mutex_);
  entries_.erase(&job);
}

size_t RunningAnswers::abort(uint64_t owner, std::string_view id) {
  std::vector<std::shared_ptr<GenerationJob>> named;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, entry] : entries_) {
      const Names& names = entry.names;
      if (names.owner != owner || (names.answer_id != id && names.request_id != id)) continue;
      if (auto held = entry.job.lock()) named.push_back(std::move(held));
    }
  }
  for (const auto& job : named) job->abort_by_request();
  return named.size();
}

}  // namespace evener::serve
