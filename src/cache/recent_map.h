#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/assert.h"

namespace evener::cache {

// A map that knows in which order its entries were used, and what they take all together: what a
// tier needs to keep to its budget. Constant time. One thread.
template <class Key, class Value>
class RecentMap {
 public:
  struct Entry {
    Key key;
    uint64_t size_bytes;
    Value value;
  };

  // Finding is not using. Null: not there.
  Entry* find(const Key& key) {
    const auto place = places_.find(key);
    return place == places_.end() ? nullptr : &*place->second;
  }
  bool contains(const Key& key) const { return places_.contains(key); }

  // As the one used last. `key` is not there yet.
  void insert(const Key& key, uint64_t size_bytes, Value value) {
    entries_.push_back({key, size_bytes, std::move(value)});
    const bool is_new = places_.emplace(key, std::prev(entries_.end())).second;
    EVENER_ASSERT(is_new);
    size_bytes_ += size_bytes;
  }

  // `key` is there; it becomes the one used last.
  void touch(const Key& key) { entries_.splice(entries_.end(), entries_, places_.at(key)); }

  // Whether it was there.
  bool erase(const Key& key) {
    const auto place = places_.find(key);
    if (place == places_.end()) return false;
    size_bytes_ -= place->second->size_bytes;
    entries_.erase(place->second);
    places_.erase(place);
    return true;
  }

  void clear() { *this = {}; }

  // The one used last at the end.
  const std::list<Entry>& entries() const { return entries_; }
  const Entry& oldest() const { return entries_.front(); }  // of a map that is not empty
  uint64_t size_bytes() const { return size_bytes_; }
  size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }

 private:
  std::list<Entry> entries_;
  std::unordered_map<Key, typename std::list<Entry>::iterator> places_;
  uint64_t size_bytes_ = 0;
};

}  // namespace evener::cache
