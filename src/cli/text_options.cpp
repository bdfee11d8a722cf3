#include "cli/text_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/mapped_file.h"
#include "cli/kv_option.h"
#include "engine/open_model.h"

namespace evener::cli {
namespace {

constexpr size_t kTextBytesMax = size_t{256} << 20;

}  // namespace

void add_text_options(CommandLine& line, TextOptions& options) {
  line.add("TEXT", options.text, "text file to measure on").required();
  line.add("--window", options.window, "tokens read together, from an empty context")
      .between(2, 1 << 20);
  line.add("--stride", options.stride, "tokens from one window to the next; 0: no overlap");
  line.add("--unscored", options.num_unscored,
           "tokens at the head of a window that are only read; 0: what the window before has "
           "scored, or half a window");
  line.add("--special", options.special, "read marks such as <|endoftext|> as special tokens");
  line.add("--chunk", options.chunk, "tokens computed together; the result does not depend on it")
      .between(1, 4096);
  add_kv_option(line, "--kv", options.kv);
  line.add("--json", options.json, "the result as JSON");
  add_device_options(line, options.device);
}

Result<TokenizedText> read_text(const gguf::File& model, const TextOptions& options) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(options.text));
  if (file.bytes().size() > kTextBytesMax) {
    return Error{.code = Code::limit_exceeded,
                 .doing = "read text",
                 .where = options.text.string(),
                 .why = fmt::format("it has {} bytes, and {} is the most that is taken",
                                    file.bytes().size(), kTextBytesMax),
                 .remedy = "cut it"};
  }
  ASSIGN_OR_RETURN(const auto tokenizer, engine::open_tokenizer(model));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  TokenizedText result;
  using tokenizer::SpecialTokens;
  result.tokens = tokenizer->encode(
      text, {.special = options.special ? SpecialTokens::parse : SpecialTokens::plain,
             .add_special = true});
  engine::WindowOptions window{.num_tokens = options.window, .stride = options.stride};
  if (options.num_unscored > 0) window.num_unscored = options.num_unscored;
  ASSIGN_OR_RETURN(result.windows, engine::text_windows(result.tokens.size(), window));
  if (tokenizer->adds_bos()) result.bos = tokenizer->bos();
  return result;
}

Result<std::shared_ptr<const gguf::File>> open_shared(const std::filesystem::path& model) {
  ASSIGN_OR_RETURN(gguf::File file, engine::open_model(model));
  return std::make_shared<const gguf::File>(std::move(file));
}

Result<engine::LogitsRun> open_run(const std::shared_ptr<const gguf::File>& model,
                                   const TextOptions& options, LongWork& work, bool timing) {
  const auto progress = [&work](size_t done, size_t total) {
    return work.advance("loading", static_cast<double>(done), static_cast<double>(total));
  };
  return open_run(model, options.device,
                  {.kv_type = *device::kv_type_from_name(options.kv),
                   .chunk = std::min(options.chunk, options.window),
                   .num_tokens_max = options.window,
                   .timing = timing},
                  progress);
}

}  // namespace evener::cli
