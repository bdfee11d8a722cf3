#include "engine/capacity.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace evener::engine {
namespace {

// More would make the lists of their numbers large, even where pages themselves cost nothing.
constexpr size_t kPagesMax = size_t{1} << 22;

size_t pages_for(const CapacityRequest& request, size_t num_tokens) {
  return (num_tokens + request.page_size - 1) / request.page_size;
}

// Products of sizes from a file can exceed 64 bits; they are too large then anyway.
size_t times(size_t a, size_t b) {
  size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t sequence_bytes(const CapacityRequest& request, size_t num_tokens) {
  return saturated_sum(times(pages_for(request, num_tokens), request.bytes_per_page),
                       request.bytes_per_slot);
}

Error does_not_fit(const CapacityRequest& request, size_t num_tokens) {
  const size_t context_bytes = sequence_bytes(request, num_tokens);
  const size_t needed =
      saturated_sum(saturated_sum(request.weight_bytes, request.scratch_bytes), context_bytes);
  return Error{
      .code = Code::out_of_memory,
      .doing = "load model",
      .where = request.where,
      .why = fmt::format("needs {} ({} weights + {} scratch + {} for one context of {} tokens), {} "
                         "are available: {} too few",
                         bytes_text(needed), bytes_text(request.weight_bytes),
                         bytes_text(request.scratch_bytes), bytes_text(context_bytes), num_tokens,
                         bytes_text(request.available_bytes),
                         bytes_text(needed - request.available_bytes)),
      .remedy =
          "free memory, ask for a shorter context, take a smaller quantisation, or share the model "
          "between devices (--devices)"};
}

// Snapshots wanted for each sequence that may run: the ends of its first and last messages, of its
// prompt, of its answer.
constexpr size_t kSnapshotsPerSequence = 4;

// Every sequence that may run needs a state slot; half of what is left may go there, so that pages
// are not starved.
size_t affordable_sequences(const CapacityRequest& request, size_t bytes_left) {
  if (request.bytes_per_slot == 0) return request.max_sequences;
  const size_t affordable = 1 + bytes_left / 2 / request.bytes_per_slot;
  return std::min(request.max_sequences, affordable);
}

// What a snapshot saves is worth more than the pages it costs, up to a quarter of the room.
size_t affordable_snapshots(const CapacityRequest& request, size_t num_sequences,
                            size_t bytes_left) {
  if (request.bytes_per_slot == 0) return 0;
  return std::min(num_sequences * kSnapshotsPerSequence, bytes_left / 4 / request.bytes_per_slot);
}

}  // namespace

size_t saturated_sum(size_t a, size_t b) {
  size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

Result<Capacity> plan_capacity(const CapacityRequest& request) {
  const size_t least = request.context_is_must ? request.context_length
                                               : std::min(request.context_length, kContextMin);
  const size_t fixed = saturated_sum(request.weight_bytes, request.scratch_bytes);
  const size_t needed = saturated_sum(fixed, sequence_bytes(request, least));
  if (needed > request.available_bytes) return does_not_fit(request, least);

  const size_t bytes_left = request.available_bytes - needed;
  const size_t num_sequences = affordable_sequences(request, bytes_left);
  const size_t sequence_bytes_left = bytes_left - (num_sequences - 1) * request.bytes_per_slot;
  const size_t num_snapshots = affordable_snapshots(request, num_sequences, sequence_bytes_left);
  const size_t page_bytes_left = sequence_bytes_left - num_snapshots * request.bytes_per_slot;
  const size_t pages_wanted = times(num_sequences, pages_for(request, request.context_length));
  size_t num_pages = std::min(pages_wanted, kPagesMax);
  if (request.bytes_per_page > 0) {
    const size_t pages_affordable =
        pages_for(request, least) + page_bytes_left / request.bytes_per_page;
    num_pages = std::min(num_pages, pages_affordable);
  }
  const size_t pool_tokens = num_pages * request.page_size;
  return Capacity{
      .num_pages = num_pages,
      .num_slots = request.bytes_per_slot == 0 ? 0 : num_sequences + num_snapshots,
      .max_sequences = num_sequences,
      .admissible_tokens = std::min(request.context_length, pool_tokens),
      .limit = pool_tokens < request.context_length ? LengthLimit::memory : LengthLimit::wanted};
}

}  // namespace evener::engine
