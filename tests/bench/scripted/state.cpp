#include "bench/scripted/state.h"

#include <algorithm>
#include <utility>

namespace evener::bench::scripted {

Script State::script() const {
  const std::lock_guard lock(mutex_);
  return script_;
}

void State::set(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void State::note_body(json::Value body) {
  const std::lock_guard lock(mutex_);
  bodies_.push_back(std::move(body));
}

std::vector<json::Value> State::bodies() const {
  const std::lock_guard lock(mutex_);
  return bodies_;
}

size_t State::look_up(const Words& prompt) {
  const std::lock_guard lock(mutex_);
  size_t most = 0;
  for (const Words& other : known_) {
    const auto end = std::ranges::mismatch(prompt, other).in1;
    most = std::max(most, size_t(end - prompt.begin()));
  }
  known_.push_back(prompt);
  if (prompt.empty()) return 0;
  most = std::min(most, prompt.size() - 1);
  return most - most % script_.page_tokens;
}

bool State::flush() {
  const std::lock_guard lock(mutex_);
  if (script_.num_flushes_busy > 0) {
    --script_.num_flushes_busy;
    return false;
  }
  if (!script_.flush_does_nothing) known_.clear();
  ++num_flushes_;
  return true;
}

size_t State::num_flushes() const {
  const std::lock_guard lock(mutex_);
  return num_flushes_;
}

void State::hold() {
  std::unique_lock lock(mutex_);
  ++num_held_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return released_ || stopping_; });
  --num_held_;
}

void State::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

void State::wait_until_held(size_t num) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return num_held_ >= num; });
}

bool State::pass(std::chrono::microseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

void State::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

}  // namespace evener::bench::scripted
