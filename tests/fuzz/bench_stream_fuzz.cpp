// Any bytes as what a server answers to the bench's client: as a whole HTTP answer, as events of a
// stream, as a body that is not streamed. The first byte says how the rest is cut into reads, which
// must not change the record. Seeds: tests/data/fuzz/bench_stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "bench/client/answer_reader.h"
#include "bench/client/response_parser.h"
#include "bench/client/sse_parser.h"

namespace evener::bench {
namespace {

// A stream as the client reads it, in pieces of `size` bytes.
class Reading {
 public:
  Reading() : reader_(record_, true) {}

  bool take_body(std::string_view bytes) {
    const auto outcome =
        sse_.feed(bytes, [&](const SseParser::Event& event) { return take(event); });
    return outcome == SseParser::Outcome::more;
  }

  RequestRecord end(bool orderly) {
    if (orderly && !over_) sse_.end([&](const SseParser::Event& event) { return take(event); });
    if (orderly) reader_.settle_finish();
    reader_.settle_text();
    return record_;
  }

 private:
  bool take(const SseParser::Event& event) {
    over_ = !reader_.take_event(event, Nanoseconds(1),
                                [](const OutputEvent& output, std::string_view text) {
                                  EVENER_ASSERT(output.num_bytes == text.size());
                                  EVENER_ASSERT(!text.empty());
                                });
    return !over_;
  }

  RequestRecord record_;
  AnswerReader reader_;
  SseParser sse_;
  bool over_ = false;
};

template <class Take>
void for_pieces(std::string_view bytes, size_t size, Take&& take) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    if (!take(bytes.substr(0, size))) return;
  }
}

RequestRecord read_events(std::string_view bytes, size_t size) {
  Reading reading;
  bool more = true;
  for_pieces(bytes, size, [&](std::string_view piece) { return more = reading.take_body(piece); });
  return reading.end(true);
}

RequestRecord read_http(std::string_view bytes, size_t size) {
  Reading reading;
  ResponseParser parser;
  using State = ResponseParser::State;
  for_pieces(bytes, size, [&](std::string_view piece) {
    const State state =
        parser.feed(piece, [&](std::string_view body) { return reading.take_body(body); });
    return state == State::head || state == State::body;
  });
  const State state = parser.end();
  RequestRecord record = reading.end(state == State::complete || state == State::stopped);
  record.http_status = parser.head().status;
  return record;
}

void expect_same(const RequestRecord& a, const RequestRecord& b) {
  EVENER_ASSERT(a.events == b.events);
  EVENER_ASSERT(a.text == b.text);
  EVENER_ASSERT(a.tool_calls == b.tool_calls);
  EVENER_ASSERT(a.output_hash == b.output_hash);
  EVENER_ASSERT(a.finish == b.finish);
  EVENER_ASSERT(a.fault == b.fault);
  EVENER_ASSERT(a.error == b.error);
  EVENER_ASSERT(a.http_status == b.http_status);
  EVENER_ASSERT(a.num_tokens_out == b.num_tokens_out);
  EVENER_ASSERT(a.num_empty_events == b.num_empty_events);
  EVENER_ASSERT(a.num_malformed_events == b.num_malformed_events);
  EVENER_ASSERT(a.server == b.server);
}

void read_whole(std::string_view body) {
  RequestRecord record;
  AnswerReader reader(record, true);
  reader.take_whole(body);
  reader.settle_finish();
  reader.settle_text();
  EVENER_ASSERT(record.events.empty());
  EVENER_ASSERT(record.fault.has_value() == !record.error.empty());
}

}  // namespace
}  // namespace evener::bench

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener::bench;
  if (size == 0) return 0;
  const size_t piece = size_t{data[0]} + 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  expect_same(read_events(text, text.size()), read_events(text, piece));
  expect_same(read_http(text, text.size()), read_http(text, piece));
  read_whole(text);
  return 0;
}
