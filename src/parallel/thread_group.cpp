#include "parallel/thread_group.h"

#include <algorithm>
#include <utility>

namespace evener::parallel {

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadGrid> group_grid, std::vector<size_t> group_members)
    : grid(std::move(group_grid)),
      members(std::move(group_members)),
      seats(members.size()),
      slots(members.size()),
      mailboxes(members.size() * members.size()) {
  const size_t count = grid->options().piece_bytes / sizeof(float);
  for (auto& pair : slots) {
    // Left untouched: memory comes from the node of the rank that fills it.
    for (auto& slot : pair) slot = std::make_unique_for_overwrite<float[]>(count);
  }
}

void ThreadGroup::add(const DirectLink& link) {
  const auto from = std::ranges::find(members, link.from);
  const auto to = std::ranges::find(members, link.to);
  if (from == members.end() || to == members.end()) return;
  mailbox(size_t(from - members.begin()), size_t(to - members.begin())).link = link.link;
}

Mailbox::Message* ThreadGroup::room(size_t from, size_t to, const Call& call) {
  Mailbox& box = mailbox(from, to);
  const uint64_t number = box.sent.load(std::memory_order_relaxed);
  const Wait wait{.rank = members[from], .peer = members[to], .call = call};
  const auto has_room = [&] { return number - box.taken.load() < box.messages.size(); };
  if (!grid->wait(wait, has_room)) return nullptr;
  return &box.messages[number % box.messages.size()];
}

void ThreadGroup::post(size_t from, size_t to) {
  std::atomic<uint64_t>& sent = mailbox(from, to).sent;
  sent.store(sent.load(std::memory_order_relaxed) + 1);
  grid->wake(members[to]);
}

const Mailbox::Message* ThreadGroup::first(size_t from, size_t to, const Call& call) {
  Mailbox& box = mailbox(from, to);
  const uint64_t number = box.taken.load(std::memory_order_relaxed);
  const Wait wait{.rank = members[to], .peer = members[from], .call = call};
  if (!grid->wait(wait, [&] { return box.sent.load() > number; })) return nullptr;
  return &box.messages[number % box.messages.size()];
}

void ThreadGroup::take(size_t from, size_t to) {
  std::atomic<uint64_t>& taken = mailbox(from, to).taken;
  taken.store(taken.load(std::memory_order_relaxed) + 1);
  grid->wake(members[from]);
}

}  // namespace evener::parallel
