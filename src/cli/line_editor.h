#pragma once

#include <optional>
#include <string>

namespace evener::cli {

// Lines from standard input: with editing and history on a terminal, plain otherwise. One thread.
class LineEditor {
 public:
  LineEditor();

  // The next line without its end, or nothing at the end of input. `prompt` is shown on terminals.
  std::optional<std::string> read(const std::string& prompt);

  bool is_terminal() const { return is_terminal_; }

 private:
  bool is_terminal_;
};

}  // namespace evener::cli
