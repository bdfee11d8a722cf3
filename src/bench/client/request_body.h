#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/client.h"

namespace evener::bench {

// What is sent for a plan.
struct RequestBody {
  std::string path;  // "/v1/chat/completions"
  std::string text;  // JSON
  uint64_t prompt_hash = 0;
  bool names_model = false;  // by RequestPlan::more, which wins, or name_model

  // Unless it names one. An empty model is left to the server.
  void name_model(std::string_view model);
};

RequestBody make_body(const RequestPlan& plan);

}  // namespace evener::bench
