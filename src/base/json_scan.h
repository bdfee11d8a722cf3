#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace evener::json {

// What a JSON text holds, in its order. A member that returns false ends the scan. Texts come
// without escapes, are valid UTF-8 and stay where they are during the call alone.
class Events {
 public:
  virtual ~Events() = default;

  virtual bool null() = 0;
  virtual bool boolean(bool value) = 0;
  virtual bool integer(int64_t number) = 0;            // below 0, or -0
  virtual bool unsigned_integer(uint64_t number) = 0;  // others without fraction that fit
  virtual bool real(double number) = 0;                // all others; finite
  virtual bool string(std::string_view text) = 0;
  virtual bool start_object() = 0;
  virtual bool key(std::string_view name) = 0;
  virtual bool end_object() = 0;
  virtual bool start_array() = 0;
  virtual bool end_array() = 0;
};

enum class ScanOutcome {
  complete,
  stopped,    // an event returned false
  malformed,  // no JSON (RFC 8259), or a number that no double comes near
};

struct Scan {
  ScanOutcome outcome = ScanOutcome::complete;
  size_t offset = 0;  // where it ended
};

// Reads one JSON text, with or without a byte order mark. Takes no memory but for its longest text
// with an escape and one byte for each container that is open; time is linear.
//
// It exists for speed: the tokenizer.json of a large vocabulary has 30 MB, over which the library's
// own parser spends most of the time that loading may take. Judges: tests/base/json_test.cpp, and
// tests/fuzz/json_fuzz.cpp, which holds it against that parser.
Scan scan(std::string_view text, Events& events);

}  // namespace evener::json
