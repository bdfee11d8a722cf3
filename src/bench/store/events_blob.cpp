#include "bench/store/events_blob.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace evener::bench {
namespace {

constexpr char kVersion = 1;
constexpr size_t kEventBytesMin = 4;

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

uint64_t zigzag(int64_t value) { return (uint64_t(value) << 1) ^ uint64_t(value >> 63); }
int64_t unzigzag(uint64_t value) { return int64_t(value >> 1) ^ -int64_t(value & 1); }

std::optional<uint64_t> take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<uint32_t> take_count(std::string_view& rest) {
  const std::optional<uint64_t> value = take_varint(rest);
  if (!value || *value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return uint32_t(*value);
}

std::optional<OutputEvent> take_event(std::string_view& rest, Nanoseconds before) {
  const std::optional<uint64_t> time = take_varint(rest);
  const std::optional<uint32_t> tokens = time ? take_count(rest) : std::nullopt;
  const std::optional<uint32_t> bytes = tokens ? take_count(rest) : std::nullopt;
  if (!bytes || rest.empty()) return std::nullopt;
  const auto channel = static_cast<unsigned char>(rest.front());
  rest.remove_prefix(1);
  const auto at = Nanoseconds(int64_t(uint64_t(before.count()) + uint64_t(unzigzag(*time))));
  if (at < -kTimeMax || at > kTimeMax || channel > unsigned(Channel::tool)) return std::nullopt;
  return OutputEvent{
      .at = at, .num_tokens = *tokens, .num_bytes = *bytes, .channel = Channel(channel)};
}

}  // namespace

std::string encode_events(const std::vector<OutputEvent>& events, Nanoseconds sent) {
  std::string out(1, kVersion);
  Nanoseconds before = sent;
  for (const OutputEvent& event : events) {
    put_varint(out, zigzag(int64_t(uint64_t(event.at.count()) - uint64_t(before.count()))));
    put_varint(out, event.num_tokens);
    put_varint(out, event.num_bytes);
    out.push_back(char(event.channel));
    before = event.at;
  }
  return out;
}

Result<std::vector<OutputEvent>> decode_events(std::string_view blob, Nanoseconds sent,
                                               std::string_view where) {
  const auto error = [&](std::string why) {
    return Error{.code = Code::corrupt,
                 .doing = "read the events of a request",
                 .where = std::string(where),
                 .why = std::move(why),
                 .remedy = ""};
  };
  if (blob.empty() || blob.front() != kVersion) return error("they have an unknown format");
  std::string_view rest = blob.substr(1);
  std::vector<OutputEvent> events;
  events.reserve(rest.size() / (2 * kEventBytesMin));
  Nanoseconds before = sent;
  while (!rest.empty()) {
    const std::optional<OutputEvent> event = take_event(rest, before);
    if (!event) return error(fmt::format("event {} is broken", events.size()));
    events.push_back(*event);
    before = event->at;
  }
  return events;
}

}  // namespace evener::bench
