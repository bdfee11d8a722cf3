// Facts that somebody sent, judged, changed and compared with themselves. The first line is taken
// for the edits of a what-if, the rest for facts.json. Seeds: tests/data/fuzz/doctor.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "doctor/changes.h"
#include "doctor/diagnose.h"
#include "doctor/fixes.h"
#include "doctor/what_if.h"
#include "host/facts_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto facts = host::facts_from_json(text.substr(end + 1), "facts.json");
  if (!facts) return 0;
  const doctor::Report report = doctor::diagnose(*facts);
  for (const std::string& id : report.fixes) EVENER_ASSERT(doctor::find_fix(id) != nullptr);
  EVENER_ASSERT(doctor::changes(*facts, *facts).facts.empty());
  const auto changed = doctor::what_if(*facts, text.substr(0, end));
  if (changed) (void)doctor::diagnose(*changed);
  return 0;
}
