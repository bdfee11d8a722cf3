#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

namespace evener::cache {

// Where in the tree the newest turn of each session ended, least recently ended first. One thread.
class LiveSessions {
 public:
  struct Session {
    uint64_t id = 0;
    int32_t end = -1;  // the page
  };

  // `session` is now the one that ended most recently. Returns where its previous turn ended.
  std::optional<int32_t> set(Session session);

  // Forgets the session that ended least recently, if there is any.
  std::optional<Session> drop_oldest();

  size_t size() const { return sessions_.size(); }
  const std::list<Session>& all() const { return sessions_; }

 private:
  std::list<Session> sessions_;  // oldest first
  std::unordered_map<uint64_t, std::list<Session>::iterator> by_id_;
};

}  // namespace evener::cache
