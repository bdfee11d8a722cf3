#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chat/output_event.h"

namespace evener::chat {

// Sorts one answer's text, as it streams, into content, reasoning and tool calls. The pieces'
// borders do not matter: however an answer is cut, the texts of each kind join to the same strings.
//
// Threads: one parser belongs to one answer and is used by one thread at a time.
class OutputParser {
 public:
  virtual ~OutputParser() = default;

  // `text` is the next piece of the answer, whole UTF-8 characters (tokenizer/detokenizer gives
  // that). Returns what is certain by now; what may be the beginning of a mark waits.
  virtual std::vector<OutputEvent> push(std::string_view text) = 0;

  // The answer has ended: returns what waited. push() must not be called after it.
  virtual std::vector<OutputEvent> finish() = 0;
};

enum class OutputFormat {
  plain,  // everything is content
  think,  // <think> reasoning </think> content
};

struct OutputParserOptions {
  OutputFormat format = OutputFormat::plain;
  // The prompt already ended with an opened <think> (TemplateCapabilities::opens_thinking): the
  // answer begins inside the reasoning.
  bool starts_in_reasoning = false;
};

std::unique_ptr<OutputParser> make_output_parser(const OutputParserOptions& options);

}  // namespace evener::chat
