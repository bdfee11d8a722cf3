#include "bench/experiments/trace.h"

#include <fmt/format.h>

#include <string>

#include "base/json_fields.h"
#include "base/mapped_file.h"

namespace evener::bench {
namespace {

constexpr size_t kFileBytesMax = size_t{1} << 30;
constexpr size_t kLineBytesMax = size_t{1} << 20;
constexpr size_t kRequestsMax = 1'000'000;
constexpr double kTimeMsMax = 366.0 * 24 * 3600 * 1000;
constexpr uint64_t kTokensMax = 100'000'000;
constexpr size_t kBlocksMax = 65'536;

Error bad(Code code, std::string where, std::string why) {
  return {.code = code,
          .doing = "read the trace",
          .where = std::move(where),
          .why = std::move(why),
          .remedy = R"(a line is {"timestamp": 0, "input_length": 512, "output_length": 64})"};
}

Result<TraceRequest> parse_line(std::string_view line, const std::string& where, double& time_ms) {
  if (line.size() > kLineBytesMax) {
    return bad(Code::limit_exceeded, where, fmt::format("is longer than {} bytes", kLineBytesMax));
  }
  ASSIGN_OR_RETURN(const json::Value value, json::parse(line, where));
  ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(value, where));
  ASSIGN_OR_RETURN(time_ms, fields.get_number("timestamp"));
  if (time_ms < 0 || time_ms > kTimeMsMax) {
    return bad(Code::corrupt, where, "its timestamp is no number of milliseconds of a year");
  }
  TraceRequest request;
  ASSIGN_OR_RETURN(const uint64_t num_in, fields.get_uint("input_length", kTokensMax));
  ASSIGN_OR_RETURN(const uint64_t num_out, fields.get_uint("output_length", kTokensMax));
  if (num_in == 0 || num_out == 0) {
    return bad(Code::corrupt, where, "has a prompt or an answer of no token");
  }
  request.num_tokens_in = static_cast<uint32_t>(num_in);
  request.num_tokens_out = static_cast<uint32_t>(num_out);
  if (fields.has("hash_ids")) {
    ASSIGN_OR_RETURN(request.blocks, fields.get_uints("hash_ids"));
    if (request.blocks.size() > kBlocksMax) {
      return bad(Code::limit_exceeded, where, fmt::format("has more than {} blocks", kBlocksMax));
    }
  }
  return request;
}

// Takes the first line off `text`, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<std::vector<TraceRequest>> parse_trace(std::string_view text, std::string_view where) {
  std::vector<TraceRequest> trace;
  double first_ms = 0;
  double last_ms = 0;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}, line {}", where, number);
    if (trace.size() == kRequestsMax) {
      return bad(Code::limit_exceeded, place, fmt::format("is after {} requests", kRequestsMax));
    }
    double time_ms = 0;
    ASSIGN_OR_RETURN(TraceRequest request, parse_line(line, place, time_ms));
    if (trace.empty()) first_ms = last_ms = time_ms;
    if (time_ms < last_ms) return bad(Code::corrupt, place, "is earlier than the line before it");
    last_ms = time_ms;
    request.at = std::chrono::duration_cast<Nanoseconds>(
        std::chrono::duration<double, std::milli>(time_ms - first_ms));
    trace.push_back(std::move(request));
  }
  if (trace.empty()) return bad(Code::corrupt, std::string(where), "holds no request");
  return trace;
}

Result<std::vector<TraceRequest>> read_trace(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (text.size() > kFileBytesMax) {
    return bad(Code::limit_exceeded, path.string(),
               fmt::format("is larger than {} bytes", kFileBytesMax));
  }
  return parse_trace(text, path.string());
}

}  // namespace evener::bench
