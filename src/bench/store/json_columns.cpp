#include "bench/store/json_columns.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/json_fields.h"

namespace evener::bench {
namespace {

using telemetry::CardReading;
using telemetry::HostReading;

constexpr json::Limits kLimits = {.depth = 4, .num_values = 1 << 16};

// Every field of a reading with its name: the one list that writing and reading walk.
template <class Host, class Visit>
void visit_host(Host& host, const Visit& visit) {
  visit("cpu_mhz_mean", host.cpu_mhz_mean);
  visit("cpu_mhz_min", host.cpu_mhz_min);
  visit("cpu_mhz_cap", host.cpu_mhz_cap);
  visit("cpu_celsius", host.cpu_celsius);
  visit("cpu_power_w", host.cpu_power_w);
  visit("throttle_count", host.throttle_count);
  visit("load_average", host.load_average);
  visit("memory_available_bytes", host.memory_available_bytes);
  visit("pages_swapped_in", host.pages_swapped_in);
  visit("cpu_pressure", host.cpu_pressure);
  visit("cpus_busy", host.cpus_busy);
  visit("cpus_own", host.cpus_own);
  visit("cpus_stolen", host.cpus_stolen);
}

template <class Card, class Visit>
void visit_card(Card& card, const Visit& visit) {
  visit("power_w", card.power_w);
  visit("power_cap_w", card.power_cap_w);
  visit("edge_celsius", card.edge_celsius);
  visit("junction_celsius", card.junction_celsius);
  visit("memory_celsius", card.memory_celsius);
  visit("core_mhz", card.core_mhz);
  visit("core_mhz_max", card.core_mhz_max);
  visit("memory_mhz", card.memory_mhz);
  visit("busy", card.busy);
  visit("memory_used_bytes", card.memory_used_bytes);
  visit("link_gts", card.link_gts);
  visit("link_width", card.link_width);
}

struct Write {
  json::Value& out;
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) const {
    if (value) out[name] = *value;
  }
};

// Reads each field that is there; keeps the first error.
struct Read {
  const json::Fields& fields;
  Status& status;

  void operator()(const char* name, std::optional<double>& value) const {
    if (status && fields.has(name)) take(fields.get_number(name), value);
  }
  void operator()(const char* name, std::optional<uint64_t>& value) const {
    if (status && fields.has(name)) take(fields.get_uint(name), value);
  }
  void operator()(const char* name, std::optional<unsigned>& value) const {
    constexpr auto kMax = std::numeric_limits<unsigned>::max();
    if (status && fields.has(name)) take(fields.get_uint(name, kMax), value);
  }

 private:
  template <class From, class To>
  void take(Result<From> from, std::optional<To>& to) const {
    if (from) {
      to = To(*from);
    } else {
      status = std::move(from).error();
    }
  }
};

Result<CardReading> card_from(const json::Value& value, std::string where) {
  ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(value, std::move(where)));
  CardReading card;
  ASSIGN_OR_RETURN(card.bus, fields.get_string("bus"));
  ASSIGN_OR_RETURN(card.name, fields.get_string_or("name", ""));
  Status status;
  visit_card(card, Read{fields, status});
  RETURN_IF_ERROR(std::move(status));
  if (!fields.has("throttle")) return card;
  ASSIGN_OR_RETURN(const auto throttle, fields.get_strings("throttle"));
  card.throttle.assign(throttle.begin(), throttle.end());
  return card;
}

Error not_words(std::string_view where, std::string why) {
  return {.code = Code::corrupt,
          .doing = "read the store of results",
          .where = std::string(where),
          .why = std::move(why),
          .remedy = ""};
}

}  // namespace

std::string text_digest(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string to_line(const json::Value& value) {
  return value.dump(-1, ' ', false, json::Value::error_handler_t::replace);
}

json::Value words_to_json(const Words& words) {
  json::Value out = json::Value::object();
  for (const auto& [name, word] : words) out[name] = word;
  return out;
}

Result<Words> words_from_json(std::string_view text, std::string_view where) {
  ASSIGN_OR_RETURN(const json::Value root, json::parse(text, where, kLimits));
  if (!root.is_object()) return not_words(where, "expected an object");
  Words out;
  for (const auto& [name, value] : root.items()) {
    if (!value.is_string()) {
      return not_words(where, fmt::format("'{}' is {}, expected a text", name, json::kind(value)));
    }
    out.emplace(name, value.get<std::string>());
  }
  return out;
}

json::Value host_to_json(const HostReading& host) {
  json::Value out = json::Value::object();
  visit_host(host, Write{out});
  return out;
}

json::Value cards_to_json(const std::vector<CardReading>& cards) {
  json::Value out = json::Value::array();
  for (const CardReading& card : cards) {
    json::Value one = {{"bus", card.bus}, {"name", card.name}};
    visit_card(card, Write{one});
    if (!card.throttle.empty()) one["throttle"] = card.throttle;
    out.push_back(std::move(one));
  }
  return out;
}

Result<HostReading> host_from_json(std::string_view text, std::string_view where) {
  ASSIGN_OR_RETURN(const json::Value root, json::parse(text, where, kLimits));
  ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(root, std::string(where)));
  HostReading host;
  Status status;
  visit_host(host, Read{fields, status});
  RETURN_IF_ERROR(std::move(status));
  return host;
}

Result<std::vector<CardReading>> cards_from_json(std::string_view text, std::string_view where) {
  ASSIGN_OR_RETURN(const json::Value root, json::parse(text, where, kLimits));
  if (!root.is_array()) return not_words(where, "expected a list");
  std::vector<CardReading> cards;
  for (const json::Value& value : root) {
    ASSIGN_OR_RETURN(CardReading card, card_from(value, std::string(where)));
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace evener::bench
