#include "base/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <utility>

namespace evener {
namespace {

constexpr int kInsistent = 3;
constexpr int kEndWatch = SIGUSR2;  // how the destructor wakes the watcher

sigset_t watched_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, kEndWatch}) sigaddset(&signals, number);
  return signals;
}

}  // namespace

struct SignalWatcher::Shared {
  Handler on_signal;
  std::atomic<int> unanswered{0};
  std::atomic<bool> ending{false};
  sigset_t mask_before{};
};

SignalWatcher::SignalWatcher(Handler on_signal) : shared_(std::make_unique<Shared>()) {
  shared_->on_signal = std::move(on_signal);
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, &shared_->mask_before);
  thread_ = std::thread([this]() noexcept { watch(); });
}

SignalWatcher::~SignalWatcher() {
  shared_->ending = true;
  pthread_kill(thread_.native_handle(), kEndWatch);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &shared_->mask_before, nullptr);
}

void SignalWatcher::acknowledge() { shared_->unanswered = 0; }

void SignalWatcher::watch() {
  const sigset_t signals = watched_signals();
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    if (shared_->ending) return;
    if (number == kEndWatch) continue;
    if (++shared_->unanswered >= kInsistent) _exit(128 + number);
    shared_->on_signal(number);
  }
}

}  // namespace evener
