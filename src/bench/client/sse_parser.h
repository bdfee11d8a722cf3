#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace evener::bench {

// Takes a stream of server-sent events apart, whatever pieces it comes in. Lines end in CR, LF or
// CRLF; a byte order mark, comments and unknown fields are passed over; several data lines make
// one event. Source: WHATWG HTML, 9.2.6.
class SseParser {
 public:
  struct Event {
    std::string_view type;  // of an "event:" line; empty: none
    std::string_view data;
  };
  // False: it wants no more; the rest of the piece is dropped.
  using OnEvent = FunctionRef<bool(const Event&)>;

  enum class Outcome {
    more,       // may come
    stopped,    // `on_event` said so
    too_large,  // an event of more than kEventBytesMax
  };

  static constexpr size_t kEventBytesMax = size_t{8} << 20;

  // Calls `on_event` for each event that `piece` completes.
  Outcome feed(std::string_view piece, OnEvent on_event);
  // At the stream's orderly end: an event whose empty line is missing counts, though the standard
  // drops it, for some servers end "data: [DONE]" so.
  Outcome end(OnEvent on_event);

 private:
  bool take_line(std::string_view line, OnEvent on_event);
  bool dispatch(OnEvent on_event);
  void take_field(std::string_view line);

  std::string line_;
  std::string data_;
  std::string type_;
  bool has_data_ = false;
  bool after_cr_ = false;   // a LF that comes next belongs to the line before
  bool first_line_ = true;  // may begin with a byte order mark
};

}  // namespace evener::bench
