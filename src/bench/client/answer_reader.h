#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/json.h"
#include "bench/client/sse_parser.h"
#include "bench/client/token_counter.h"
#include "bench/client/tool_calls.h"
#include "bench/record.h"

struct XXH64_state_s;

namespace evener::bench {

// Reads what an OpenAI-compatible server answers (chat and plain completions, streamed or whole)
// into a record. Trusts nothing in it. Judges: tests/bench/client/answer_reader_test.cpp,
// tests/fuzz/bench_stream_fuzz.cpp.
class AnswerReader {
 public:
  // `record` outlives this.
  AnswerReader(RequestRecord& record, bool keep_text);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  using OnOutput = FunctionRef<void(const OutputEvent& event, std::string_view text)>;

  // One event of a stream that came with a read at `at`. False: the stream is over, by [DONE] or
  // by an error that the server tells.
  bool take_event(const SseParser::Event& event, Nanoseconds at, OnOutput on_output);

  // The body of an answer that is not streamed.
  void take_whole(std::string_view body);

  // After an orderly end: what the answer means as a whole.
  void settle_finish();
  // After any end: the hash and the calls of what has come.
  void settle_text();

 private:
  void take_chunk(const json::Value& chunk, Nanoseconds at, OnOutput on_output);
  void take_choice(const json::Value& choice);
  void take_message(const json::Value& message, bool first_choice);
  void take_tool_calls(const json::Value& calls, bool first_choice);
  void take_finish_reason(const std::string& reason);
  void take_usage(const json::Value& usage);
  void take_timings(const json::Value& timings);
  void add_text(Channel channel, std::string_view text, bool first_choice);
  void tell_outputs(const json::Value& chunk, Nanoseconds at, OnOutput on_output);
  bool fail(Fault fault, std::string words);
  bool malformed(std::string_view data, std::string_view why);

  RequestRecord& record_;
  bool keep_text_;
  ToolCalls calls_;
  TokenCounter counter_;
  XXH64_state_s* hash_;
  bool has_text_ = false;
  bool has_finish_ = false;
  uint64_t num_chunks_ = 0;  // well-formed ones
  std::string first_malformed_;

  // Of the chunk that is being read: text by channel, in the order of Channel.
  std::string pieces_[3];
  std::optional<uint64_t> num_ids_;
};

}  // namespace evener::bench
