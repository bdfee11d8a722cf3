#pragma once

#include "base/json.h"
#include "bench/client.h"

namespace evener::bench {

// The entry of /v1/models that `target` means: the one of its name, or the first. Errors: as
// Server::probe.
Result<json::Value> find_model(Client& client);

}  // namespace evener::bench
