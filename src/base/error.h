#pragma once

#include <expected>
#include <string>
#include <utility>

namespace evener {

// What kind of thing went wrong. Decides the exit status and the HTTP status; nothing else does.
enum class Code {
  invalid_argument,   // the caller's words: a flag, a request field
  not_found,          // a file, a model, a route
  permission_denied,  // the operating system or a missing key says no
  corrupt,            // a file or text breaks its own format
  unsupported,        // well-formed, but not something Evener can do
  limit_exceeded,     // larger, deeper or longer than a stated limit
  context_overflow,   // a prompt that does not fit the admissible context
  out_of_memory,
  unavailable,  // loading, draining, port taken: may work later
  cancelled,
  internal,  // our own fault
};

// What went wrong, in the order a person asks. Only `code` decides exit and HTTP status; the texts
// are for people and may change.
struct Error {
  Code code = Code::internal;
  std::string doing;   // "load model"
  std::string where;   // "tiny.gguf, tensor 'blk.0.attn_q.weight', offset 1184"
  std::string why;     // "ends at byte 4702208, the file has 4194304"
  std::string remedy;  // "the download is cut short: fetch the file again"; empty if there is none
};

// The one shape of every message: "cannot DOING: WHERE: WHY", then the remedy indented on its own
// line. Empty parts are left out. No trailing newline.
std::string to_string(const Error& error);

// A value or an Error. Dropping one is a compile error, which std::expected of gcc 12 alone is not.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(Error error)
      : std::expected<T, Error>(std::unexpect, std::move(error)) {
  }  // NOLINT(google-explicit-constructor)
};

using Status = Result<void>;

}  // namespace evener

#define EVENER_CONCAT_INNER(a, b) a##b
#define EVENER_CONCAT(a, b) EVENER_CONCAT_INNER(a, b)

// ASSIGN_OR_RETURN(auto file, MappedFile::open(path)): the value, or this function returns the
// Error.
#define ASSIGN_OR_RETURN(lhs, ...) \
  EVENER_ASSIGN_OR_RETURN(EVENER_CONCAT(evener_result_, __LINE__), lhs, __VA_ARGS__)
#define EVENER_ASSIGN_OR_RETURN(result, lhs, ...)                 \
  auto result = (__VA_ARGS__);                                    \
  if (!result) return ::evener::Error(std::move(result).error()); \
  lhs = *std::move(result)

// RETURN_IF_ERROR(check(x)): goes on if the Result holds a value, else returns its Error.
#define RETURN_IF_ERROR(...)                                                      \
  do {                                                                            \
    auto evener_status = (__VA_ARGS__);                                           \
    if (!evener_status) return ::evener::Error(std::move(evener_status).error()); \
  } while (false)
