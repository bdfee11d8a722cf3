#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "telemetry/sample.h"

// The columns of a store that hold JSON. What reads them trusts nothing: they may have been written
// by anybody. `where` names the row in messages; all errors are corrupt or limit_exceeded.

namespace evener::bench {

// One line; bytes that are no UTF-8 are replaced.
std::string to_line(const json::Value& value);

// An object of texts: a caliber, the target of a cell.
using Words = std::map<std::string, std::string>;
json::Value words_to_json(const Words& words);
Result<Words> words_from_json(std::string_view text, std::string_view where);

// Shows that a column's text was changed. For a caliber, caliber_hash would not do: which facts
// must match may differ between versions of this program.
std::string text_digest(std::string_view text);

// Sensors that are not offered are left out.
json::Value host_to_json(const telemetry::HostReading& host);
json::Value cards_to_json(const std::vector<telemetry::CardReading>& cards);
Result<telemetry::HostReading> host_from_json(std::string_view text, std::string_view where);
Result<std::vector<telemetry::CardReading>> cards_from_json(std::string_view text,
                                                            std::string_view where);

}  // namespace evener::bench
