// Any bytes as the columns of a store that are not plain values: the events of a request and the
// JSON of calibers and sensors. They are refused, or what was read can be written and read again,
// and figures can be worked out of it. Seeds: tests/data/fuzz/bench_store.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "bench/metrics.h"
#include "bench/store/events_blob.h"
#include "bench/store/json_columns.h"

namespace evener::bench {
namespace {

void try_figures(const std::vector<OutputEvent>& events, Nanoseconds sent) {
  RequestRecord record;
  record.sent = sent;
  record.events = events;
  record.ended = events.empty() ? sent : events.back().at;
  record.finish = Finish::stop;
  record.num_tokens_in = 10;
  record.num_tokens_cached = 0;
  record.num_tokens_out = events.size();
  for (const auto& [key, value] : request_figures(record)) EVENER_ASSERT(std::isfinite(value));
  CellRecord cell;
  cell.target = {{"num_users", "1"}};
  for (const auto& [key, summary] : cell_figures(cell, std::span(&record, 1), {})) {
    EVENER_ASSERT(summary.n > 0);
    EVENER_ASSERT(summary.min <= summary.p50);
    EVENER_ASSERT(summary.p50 <= summary.max);
  }
}

void try_events(std::string_view bytes, Nanoseconds sent) {
  const auto events = decode_events(bytes, sent, "fuzz");
  if (!events) {
    EVENER_ASSERT(!events.error().why.empty());
    return;
  }
  const auto again = decode_events(encode_events(*events, sent), sent, "again");
  EVENER_ASSERT(again.has_value());
  EVENER_ASSERT(*again == *events);
  try_figures(*events, sent);
}

void try_json(std::string_view text) {
  if (const auto words = words_from_json(text, "fuzz")) {
    const auto again = words_from_json(to_line(words_to_json(*words)), "again");
    EVENER_ASSERT(again.has_value());
    EVENER_ASSERT(*again == *words);
  }
  if (const auto host = host_from_json(text, "fuzz")) {
    EVENER_ASSERT(host_from_json(to_line(host_to_json(*host)), "again").has_value());
  }
  if (const auto cards = cards_from_json(text, "fuzz")) {
    const auto again = cards_from_json(to_line(cards_to_json(*cards)), "again");
    EVENER_ASSERT(again.has_value());
    EVENER_ASSERT(again->size() == cards->size());
  }
}

}  // namespace
}  // namespace evener::bench

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener::bench;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_events(bytes, Nanoseconds(0));
  try_events(bytes, kTimeMax);
  try_json(bytes);
  return 0;
}
