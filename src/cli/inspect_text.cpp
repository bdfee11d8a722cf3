#include "cli/inspect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"
#include "gguf/summary.h"

namespace evener::cli {
namespace {

constexpr size_t kTextBytesMax = 400;  // of one text from the file
constexpr size_t kTemplateLinesMax = 4;
constexpr size_t kNameWidthMax = 60;

std::string clean(std::string_view text) { return printable(text, kTextBytesMax); }

std::string or_unknown(const std::optional<std::string_view>& text) {
  return text ? clean(*text) : "unknown";
}

std::string or_unknown(const std::optional<uint64_t>& number) {
  return number ? grouped_text(*number) : "unknown";
}

std::string or_unknown(const std::optional<gguf::NumberRange>& range) {
  if (!range) return "unknown";
  if (range->min == range->max) return grouped_text(range->min);
  return fmt::format("{} to {}", grouped_text(range->min), grouped_text(range->max));
}

// Collects lines and cuts them to the width.
class Page {
 public:
  explicit Page(size_t width) : width_(width) {}

  void line(std::string_view text) {
    text_ += fitted(text);
    text_ += '\n';
  }
  void fact(std::string_view label, std::string_view value) {
    line(fmt::format("  {:<19}{}", label, value));
  }
  void title(std::string_view text) {
    line("");
    line(text);
  }
  std::string take() { return std::move(text_); }

 private:
  // Counts code points: what is wider than one column sticks out a little.
  std::string fitted(std::string_view text) const {
    if (width_ == 0) return std::string(text);
    size_t num_characters = 0;
    size_t cut_at = 0;  // where the last character that leaves room for the mark ends
    for (size_t at = 0; at < text.size(); ++num_characters) {
      if (num_characters + 1 == width_) cut_at = at;
      if (num_characters == width_) return std::string(text.substr(0, cut_at)) + "…";
      at += utf8::decode(text, at).num_bytes;
    }
    return std::string(text);
  }

  size_t width_;
  std::string text_;
};

std::string heads_text(const gguf::Summary& summary) {
  if (!summary.num_heads) return "unknown";
  std::string text = or_unknown(summary.num_heads);
  if (summary.num_kv_heads) {
    text += fmt::format(", {} for keys and values", or_unknown(summary.num_kv_heads));
  }
  if (summary.head_dim) text += fmt::format(", {} wide", *summary.head_dim);
  return text;
}

std::string experts_text(const gguf::Summary& summary) {
  if (!summary.family) return "unknown";
  // A family's files have this key if, and only if, they have experts.
  if (summary.num_experts.value_or(0) == 0) return "none";
  return fmt::format("{}, {} per token", or_unknown(summary.num_experts),
                     or_unknown(summary.num_experts_per_token));
}

std::string layers_text(const gguf::Summary& summary) {
  std::string text = or_unknown(summary.num_layers);
  const uint64_t num_mtp = summary.num_mtp_layers.value_or(0);
  if (num_mtp > 0) text += fmt::format(", {} of them to draft tokens (MTP)", num_mtp);
  return text;
}

void add_model(const gguf::File& file, const gguf::Summary& summary, Page& page) {
  page.title("Model");
  page.fact("family", or_unknown(summary.family));
  page.fact("name", or_unknown(summary.name));
  page.fact("license", or_unknown(summary.license));
  page.fact("parameters", grouped_text(summary.num_parameters));
  const std::string format =
      file.is_assembled() ? "safetensors" : fmt::format("GGUF version {}", file.version());
  page.fact("size", fmt::format("{} bytes in {} file{}, {}", grouped_text(file.size_bytes()),
                                file.names().size(), file.names().size() == 1 ? "" : "s", format));
  page.fact("quantisation", summary.file_type.value_or("unknown"));
  page.fact("context length", or_unknown(summary.context_length));
  page.fact("layers", layers_text(summary));
  page.fact("hidden size", or_unknown(summary.hidden_size));
  page.fact("feed-forward size", or_unknown(summary.intermediate_size));
  page.fact("attention heads", heads_text(summary));
  page.fact("experts", experts_text(summary));
}

void add_tokenizer(const gguf::Summary& summary, Page& page) {
  page.title("Tokenizer");
  page.fact("kind", or_unknown(summary.tokenizer_model));
  page.fact("pre-tokenizer", or_unknown(summary.tokenizer_pre));
  page.fact("vocabulary size", or_unknown(summary.vocab_size));
  for (const gguf::SpecialToken& token : summary.special_tokens) {
    page.fact(fmt::format("{} token", clean(token.role)),
              token.text.empty() ? fmt::format("{}", token.id)
                                 : fmt::format("{} = {}", token.id, clean(token.text)));
  }
}

void add_chat_template(const gguf::Summary& summary, Page& page) {
  page.title("Chat template");
  if (!summary.chat_template) return page.line("  none");
  const std::string_view text = *summary.chat_template;
  page.line(fmt::format("  {} bytes; it begins:", grouped_text(text.size())));
  size_t at = 0;
  for (size_t i = 0; i < kTemplateLinesMax && at < text.size(); ++i) {
    const size_t end = std::min(text.find('\n', at), text.size());
    page.line("    " + clean(text.substr(at, end - at)));
    at = end + 1;
  }
  for (const std::string_view name : summary.named_chat_templates) {
    page.line(fmt::format("  there is one more, '{}'", clean(name)));
  }
}

void add_types(const gguf::Summary& summary, Page& page) {
  page.title("Tensors by type");
  page.line(fmt::format("  {:<10}{:>8}{:>20}{:>22}{:>11}", "type", "tensors", "parameters", "bytes",
                        "bits each"));
  const auto row = [&](std::string_view name, uint64_t num_tensors, uint64_t num_parameters,
                       uint64_t num_bytes, double bits) {
    page.line(fmt::format("  {:<10}{:>8}{:>20}{:>22}{:>11.2f}", name, num_tensors,
                          grouped_text(num_parameters), grouped_text(num_bytes), bits));
  };
  uint64_t num_tensors = 0;
  for (const gguf::TypeShare& share : summary.types) {
    row(share.name, share.num_tensors, share.num_parameters, share.num_bytes,
        share.bits_per_weight());
    num_tensors += share.num_tensors;
  }
  row("all", num_tensors, summary.num_parameters, summary.tensor_bytes, summary.bits_per_weight());
}

void add_tensors(const gguf::File& file, Page& page) {
  page.title("Tensors (innermost dimension first)");
  size_t name_width = 0;
  for (const gguf::Tensor& tensor : file.tensors()) {
    name_width = std::max(name_width, std::min(tensor.name.size(), kNameWidthMax));
  }
  for (const gguf::Tensor& tensor : file.tensors()) {
    page.line(fmt::format(
        "  {:<{}}  {:<8}  {:<24}{:>18}", clean(tensor.name), name_width,
        tensor.stored_as.empty() ? info(tensor.dtype).name : tensor.stored_as,
        gguf::shape_text(tensor.shape),
        grouped_text(tensor.stored_as.empty() ? tensor.size_bytes() : tensor.stored_bytes)));
  }
}

}  // namespace

std::string inspect_text(const gguf::File& file, const InspectOptions& options) {
  const gguf::Summary summary = gguf::summarise(file);
  Page page(options.width);
  page.line(fmt::format("{}: {}, {} parameters, {}, {:.2f} bits per weight",
                        clean(std::filesystem::path(file.name()).filename().string()),
                        or_unknown(summary.family), count_text(summary.num_parameters),
                        bytes_text(file.size_bytes()), summary.bits_per_weight()));
  add_model(file, summary, page);
  add_tokenizer(summary, page);
  add_chat_template(summary, page);
  add_types(summary, page);
  if (options.tensors) add_tensors(file, page);
  return page.take();
}

}  // namespace evener::cli
