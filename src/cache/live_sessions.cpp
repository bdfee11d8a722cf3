#include "cache/live_sessions.h"

namespace evener::cache {

std::optional<int32_t> LiveSessions::set(Session session) {
  std::optional<int32_t> previous;
  if (const auto it = by_id_.find(session.id); it != by_id_.end()) {
    previous = it->second->end;
    sessions_.erase(it->second);
  }
  by_id_[session.id] = sessions_.insert(sessions_.end(), session);
  return previous;
}

std::optional<LiveSessions::Session> LiveSessions::drop_oldest() {
  if (sessions_.empty()) return std::nullopt;
  const Session oldest = sessions_.front();
  sessions_.pop_front();
  by_id_.erase(oldest.id);
  return oldest;
}

}  // namespace evener::cache
