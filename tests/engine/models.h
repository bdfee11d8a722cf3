#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/listener.h"

namespace evener::engine {

// A golden model's file; "" is the bundled one.
inline std::filesystem::path model_path(const std::string& name) {
  if (name.empty()) return {};
  return std::filesystem::path(EVENER_TEST_DATA) / "models" / (name + ".gguf");
}

inline const nlohmann::json& golden_manifest() {
  static const nlohmann::json parsed = nlohmann::json::parse(
      std::ifstream(std::filesystem::path(EVENER_TEST_DATA) / "golden/manifest.json"));
  return parsed;
}

// Small enough that a machine with little memory runs many of them.
inline EngineOptions small_options(const std::string& model = "llama") {
  EngineOptions options;
  options.model = model_path(model);
  options.num_threads = 2;
  options.context_length = 256;
  options.max_sequences = 4;
  options.prefill_chunk = 64;
  return options;
}

inline std::unique_ptr<Engine> start(const EngineOptions& options) {
  auto engine = Engine::create(options, {});
  EXPECT_TRUE(engine.has_value()) << to_string(engine.error());
  return std::move(*engine);
}

inline GenerationRequest greedy(std::vector<TokenId> prompt, size_t max_new_tokens) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.max_new_tokens = max_new_tokens;
  request.ignore_eos = true;
  return request;
}

inline Answer generate(Engine& engine, GenerationRequest request) {
  Listener listener;
  const auto id = engine.submit(std::move(request), listener.sink());
  EXPECT_TRUE(id.has_value()) << to_string(id.error());
  return listener.wait();
}

}  // namespace evener::engine
