#include "bench/experiments/running.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace evener::bench {
namespace {

constexpr std::chrono::milliseconds kLook{20};
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

}  // namespace

Running::~Running() {
  cancel_all();
  for (size_t i = 0; i < requests_.size(); ++i) wait_for_end(i);
}

size_t Running::start(RequestPlan plan) {
  Request* request = nullptr;
  {
    const std::lock_guard lock(mutex_);
    request = &requests_.emplace_back();
  }
  Observer observer;
  observer.on_event = [this, request](const OutputEvent& event, std::string_view) {
    const std::lock_guard lock(mutex_);
    request->num_tokens += std::max<uint32_t>(1, event.num_tokens);
    changed_.notify_all();
  };
  observer.on_end = [this, request](RequestRecord record) {
    cell_.keep(record);
    const std::lock_guard lock(mutex_);
    request->record = std::move(record);
    request->ended = true;
    changed_.notify_all();
  };
  const auto number = bench_.client->start(cell_.in_cell(std::move(plan)), std::move(observer));
  const std::lock_guard lock(mutex_);
  request->number = number;
  return requests_.size() - 1;
}

bool Running::wait_for_tokens(size_t index, uint64_t num_tokens) {
  wait_until(requests_[index], num_tokens);
  const std::lock_guard lock(mutex_);
  return requests_[index].num_tokens >= num_tokens;
}

const RequestRecord& Running::wait_for_end(size_t index) {
  wait_until(requests_[index], kNever);
  return requests_[index].record;
}

bool Running::has_ended(size_t index) {
  const std::lock_guard lock(mutex_);
  return requests_[index].ended;
}

void Running::wait_until(const Request& request, uint64_t num_tokens) {
  const auto is_there = [&] { return request.ended || request.num_tokens >= num_tokens; };
  for (bool cancelled = false;;) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kLook, is_there)) return;
    }
    if (bench_.stop && !cancelled) cancel_all();
    cancelled = bench_.stop;
  }
}

void Running::cancel_all() {
  std::vector<Client::RequestNumber> numbers;
  {
    const std::lock_guard lock(mutex_);
    for (const Request& request : requests_) {
      if (!request.ended) numbers.push_back(request.number);
    }
  }
  for (const Client::RequestNumber number : numbers) bench_.client->cancel(number);
}

}  // namespace evener::bench
