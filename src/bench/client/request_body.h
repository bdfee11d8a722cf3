#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/client.h"

namespace evener::bench {

// What is sent for a plan.
struct RequestBody {
  std::string path;  // "/v1/chat/completions"
  std::string json;  // without "model"
  uint64_t prompt_hash = 0;

  // The whole body. An empty model is left to the server; one in RequestPlan::more wins.
  std::string with_model(std::string_view model) const;
  bool names_model = false;  // by RequestPlan::more
};

RequestBody make_body(const RequestPlan& plan);

}  // namespace evener::bench
