// evener logits: the door for checking numbers from outside.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/kv_option.h"
#include "cli/open_run.h"
#include "cli/timing.h"
#include "engine/logits_run.h"
#include "engine/open_model.h"
#include "gguf/file.h"
#include "tensor/npy.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path model;
  std::string tokens;
  std::filesystem::path out;
  size_t chunk = 512;
  std::string kv = "f16";
  DeviceOptions device;
  bool timing = false;
};
Options options;

void add_options(CommandLine& line) {
  line.add("MODEL", options.model, "GGUF file or Hugging Face folder").required();
  line.add("--tokens", options.tokens,
           "token ids: 1,2,3 or @FILE with ids between commas or blanks")
      .required();
  line.add("--out", options.out, "file to write: float32 [tokens, vocabulary] in NumPy's format")
      .required();
  line.add("--chunk", options.chunk, "tokens computed together; the result does not depend on it")
      .between(1, 4096);
  add_kv_option(line, "--kv", options.kv);
  add_device_options(line, options.device);
  add_timing_option(line, options.timing);
}

Error bad_tokens(std::string why) {
  return {.code = Code::invalid_argument,
          .doing = "read token ids",
          .where = "--tokens",
          .why = std::move(why),
          .remedy = {}};
}

Result<std::string> token_text() {
  if (!options.tokens.starts_with('@')) return options.tokens;
  std::ifstream file(options.tokens.substr(1));
  if (!file) return bad_tokens("cannot open " + options.tokens.substr(1));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::vector<int32_t>> parse_tokens(std::string_view text) {
  constexpr std::string_view kSeparators = ", \t\r\n";
  std::vector<int32_t> tokens;
  for (size_t at = text.find_first_not_of(kSeparators); at != std::string_view::npos;
       at = text.find_first_not_of(kSeparators, at)) {
    const std::string_view word = text.substr(at, text.find_first_of(kSeparators, at) - at);
    int32_t token = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    if (error != std::errc() || end != word.data() + word.size())
      return bad_tokens("'" + printable(word, 40) + "' is not a token id");
    tokens.push_back(token);
    at += word.size();
  }
  if (tokens.empty()) return bad_tokens("there are none");
  return tokens;
}

Result<int> run() {
  ASSIGN_OR_RETURN(const std::string text, token_text());
  ASSIGN_OR_RETURN(const std::vector<int32_t> tokens, parse_tokens(text));
  ASSIGN_OR_RETURN(gguf::File opened, engine::open_model(options.model));
  const auto file = std::make_shared<const gguf::File>(std::move(opened));
  const engine::LogitsRunOptions run_options{.kv_type = *device::kv_type_from_name(options.kv),
                                             .chunk = std::min(options.chunk, tokens.size()),
                                             .num_tokens_max = tokens.size(),
                                             .timing = options.timing};
  ASSIGN_OR_RETURN(auto logits_run, open_run(file, options.device, run_options));

  Progress progress;
  logits_run.restart_times();
  std::vector<float> logits;
  logits.reserve(tokens.size() * logits_run.config().vocab_size);
  RETURN_IF_ERROR(logits_run.feed(tokens, [&](size_t index, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    progress.show("computing", static_cast<double>(index + 1) / static_cast<double>(tokens.size()));
  }));
  progress.clear();
  RETURN_IF_ERROR(write_npy(options.out, tokens.size(), logits_run.config().vocab_size, logits));
  fmt::print("{}: {} tokens, {} logits each\n", options.out.string(), tokens.size(),
             logits_run.config().vocab_size);
  if (options.timing) print_timing(logits_run.report());
  return 0;
}

}  // namespace

extern const Command logits_command;
const Command logits_command = {
    .name = "logits",
    .summary = "Write a model's logits for given tokens to a NumPy file",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
