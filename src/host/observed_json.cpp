#include "host/observed_json.h"

#include <array>

namespace evener::host {
namespace {

void read_peers(const FactFields& fields, Observed& observed) {
  fields.each("peer", [&](const json::Value& row, size_t) {
    const bool is_row = row.is_array() && row.size() >= 3 && row[0].is_string() &&
                        row[1].is_string() && row[2].is_boolean();
    if (!is_row) return fields.fail("peer", R"(has a row that is not like ["A","B",true])");
    PeerObservation& peer = observed.peers.emplace_back();
    peer.from = row[0].get<std::string>();
    peer.to = row[1].get<std::string>();
    peer.allowed = row[2].get<bool>();
    if (row.size() > 3 && row[3].is_string()) peer.reason = row[3].get<std::string>();
  });
}

bool add_rate(const std::string& what, const std::string& of, const json::Value& value,
              Observed& observed) {
  if (!value.is_number()) return false;
  observed.rates.push_back({what, of, value.get<double>()});
  return true;
}

// 9.6, [9.6, 9.7] or {"A": 9.6}; what else there is stays in `other`.
bool read_rates(const std::string& what, const json::Value& value, Observed& observed) {
  const size_t num_before = observed.rates.size();
  bool all = value.is_number() || value.is_array() || value.is_object();
  if (value.is_number()) {
    all = add_rate(what, "", value, observed);
  } else if (value.is_structured()) {
    for (const auto& [of, number] : value.items()) {
      all = all && add_rate(what, value.is_object() ? of : "", number, observed);
    }
  }
  if (!all) observed.rates.resize(num_before);
  return all;
}

// The first word is what the rules look at; a report's own words are kept.
void read_data_check(const FactFields& fields, Observed& observed) {
  std::string said;
  fields.text("data_check", said);
  for (const std::string_view word : std::array{"pass", "fail", "none"}) {
    if (said.starts_with(word)) observed.data_check = word;
  }
  if (said != observed.data_check) observed.other["data_check"] = said;
}

}  // namespace

void read_observed(const FactFields& fields, const json::Value& object, Observed& observed) {
  observed.other = json::Value::object();
  read_peers(fields, observed);
  read_data_check(fields, observed);
  fields.text("stability", observed.stability);
  for (const auto& [key, value] : object.items()) {
    if (key == "peer" || key == "data_check" || key == "stability" || value.is_null()) continue;
    if (key.ends_with("_gbs") && read_rates(key, value, observed)) continue;
    observed.other[key] = value;
  }
}

}  // namespace evener::host
