#include "chat/output_parser.h"

#include <string>

#include "chat/think_parser.h"

namespace evener::chat {
namespace {

class PlainParser final : public OutputParser {
 public:
  std::vector<OutputEvent> push(std::string_view text) override {
    if (text.empty()) return {};
    return {{.kind = OutputEvent::Kind::content,
             .text = std::string(text),
             .tool_index = 0,
             .tool_name = {}}};
  }

  std::vector<OutputEvent> finish() override { return {}; }
};

}  // namespace

std::unique_ptr<OutputParser> make_output_parser(const OutputParserOptions& options) {
  if (options.format == OutputFormat::think) {
    return std::make_unique<ThinkParser>(options.starts_in_reasoning);
  }
  return std::make_unique<PlainParser>();
}

}  // namespace evener::chat
