#pragma once

#include <cstdint>

#include "bench/record.h"

namespace evener::bench {

// A hash among the columns: written as 16 hexadecimal digits.
template <class T>
struct Hash {
  T& value;
};

// Every column of table requests but number, run and those of the events: the one list that
// inserting, reading and exporting walk. `Record` is RequestRecord, const or not.
template <class Record, class Visit>
void visit_request(Record& r, const Visit& visit) {
  visit("cell", r.cell);
  visit("label", r.label);
  visit("excluded", r.excluded);
  visit("attempt", r.attempt);
  visit("prompt_hash", Hash{r.prompt_hash});
  visit("num_tokens_in_wanted", r.num_tokens_in_wanted);
  visit("num_tokens_out_wanted", r.num_tokens_out_wanted);
  visit("streamed", r.streamed);
  visit("scheduled_ns", r.scheduled);
  visit("sent_ns", r.sent);
  visit("header_ns", r.header);
  visit("ended_ns", r.ended);
  visit("http_status", r.http_status);
  visit("num_empty_events", r.num_empty_events);
  visit("done_seen", r.done_seen);
  visit("request_id", r.request_id);
  visit("finish", r.finish);
  visit("fault", r.fault);
  visit("error", r.error);
  visit("num_malformed_events", r.num_malformed_events);
  visit("usage_disagreed", r.usage_disagreed);
  visit("num_tokens_in", r.num_tokens_in);
  visit("num_tokens_cached", r.num_tokens_cached);
  visit("num_tokens_out", r.num_tokens_out);
  visit("num_tokens_reasoning", r.num_tokens_reasoning);
  visit("server_queue_ms", r.server.queue_ms);
  visit("server_prefill_ms", r.server.prefill_ms);
  visit("server_decode_ms", r.server.decode_ms);
  visit("server_gap_max_ms", r.server.gap_max_ms);
  visit("num_drafted", r.server.num_drafted);
  visit("num_accepted", r.server.num_accepted);
  visit("output_hash", Hash{r.output_hash});
  visit("text", r.text);
  visit("tool_calls", r.tool_calls);
}

}  // namespace evener::bench
