#pragma once

#include "host/fact_fields.h"
#include "host/facts.h"

namespace evener::host {

// The member `observed` of facts.json: `object` is what `fields` reads.
void read_observed(const FactFields& fields, const json::Value& object, Observed& observed);

}  // namespace evener::host
