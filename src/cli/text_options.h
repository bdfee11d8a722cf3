#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command_line.h"
#include "cli/long_work.h"
#include "cli/open_run.h"
#include "engine/logits_run.h"
#include "engine/text_score.h"
#include "gguf/file.h"

namespace evener::cli {

// What the commands have that measure models on a text: TEXT, --window, --stride, --unscored,
// --special, --chunk, --kv, --json, --device, --threads.
struct TextOptions {
  std::filesystem::path text;
  size_t window = 512;
  size_t stride = 0;
  size_t num_unscored = 0;  // 0: as engine::WindowOptions says
  bool special = false;
  size_t chunk = 512;
  std::string kv = "f16";
  bool json = false;
  DeviceOptions device;
};

void add_text_options(CommandLine& line, TextOptions& options);

// A text as a model's tokenizer reads it.
struct TokenizedText {
  std::vector<int32_t> tokens;
  std::vector<engine::Window> windows;
  std::optional<int32_t> bos;

  engine::ScoredText view() const { return {.tokens = tokens, .windows = windows, .bos = bos}; }
};

// Errors: those of MappedFile, load_tokenizer and text_windows; limit_exceeded.
Result<TokenizedText> read_text(const gguf::File& model, const TextOptions& options);

// engine::open_model(), for runs that keep the model.
Result<std::shared_ptr<const gguf::File>> open_shared(const std::filesystem::path& model);

// A run with room for one window. Errors: those of open_run() of cli/open_run.h.
Result<engine::LogitsRun> open_run(const std::shared_ptr<const gguf::File>& model,
                                   const TextOptions& options, LongWork& work, bool timing = false);

}  // namespace evener::cli
