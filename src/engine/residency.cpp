#include "engine/residency.h"

#include "base/assert.h"

namespace evener::engine {

Residency::Residency(const ResidencyOptions& options)
    : page_size_(options.page_size), pages_(options.num_pages), slots_(options.num_state_slots) {}

sched::first_come::Room Residency::room() const {
  return {.pages = pages_.num_available(),
          .state_slots = slots_.num_slots() == 0 ? SIZE_MAX : slots_.num_available()};
}

void Residency::admit(sched::SequenceId id, size_t num_pages) {
  const bool reserved = pages_.reserve(num_pages);
  EVENER_ASSERT(reserved);
  Place place;
  place.pages.reserve(num_pages);
  place.num_reserved = num_pages;
  if (slots_.num_slots() > 0) place.state_slot = slots_.take();
  const bool is_new = places_.emplace(id, std::move(place)).second;
  EVENER_ASSERT(is_new);
}

void Residency::cover(sched::SequenceId id, size_t position_end) {
  Place& place = places_.at(id);
  while (place.pages.size() * page_size_ < position_end) {
    EVENER_ASSERT(place.num_reserved > 0);
    place.pages.push_back(pages_.take());
    --place.num_reserved;
  }
}

void Residency::release(sched::SequenceId id) {
  const auto it = places_.find(id);
  if (it == places_.end()) return;
  for (const int32_t page : it->second.pages) pages_.give_back(page);
  pages_.unreserve(it->second.num_reserved);
  if (it->second.state_slot >= 0) slots_.give_back(it->second.state_slot);
  places_.erase(it);
}

}  // namespace evener::engine
