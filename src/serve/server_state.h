#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engine/engine.h"
#include "serve/host_report.h"
#include "serve/service.h"

namespace evener::serve {

// What the server can do at the moment: loading, ready, failed; and whether it is about to stop.
// Any thread.
class ServerState {
 public:
  struct View {
    engine::LoadState loading;
    ServicePtr service;           // null until ready
    std::optional<Error> failed;  // loading ended with it
    bool draining = false;
    std::shared_ptr<HostReport> host;  // null: the server does not tell about its machine
  };

  View view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  void set_loading(const engine::LoadState& loading) {
    const std::lock_guard lock(mutex_);
    view_.loading = loading;
  }
  void set_ready(ServicePtr service) {
    const std::lock_guard lock(mutex_);
    view_.service = std::move(service);
  }
  void set_failed(Error error) {
    const std::lock_guard lock(mutex_);
    view_.failed = std::move(error);
  }
  void set_host(std::shared_ptr<HostReport> host) {
    const std::lock_guard lock(mutex_);
    view_.host = std::move(host);
  }
  void set_draining() {
    const std::lock_guard lock(mutex_);
    view_.draining = true;
  }
  // The model's owner takes it back: called when no request can be running.
  void release_service() {
    const std::lock_guard lock(mutex_);
    view_.service = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  View view_;
};

}  // namespace evener::serve
