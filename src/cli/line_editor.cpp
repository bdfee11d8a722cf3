#include "cli/line_editor.h"

#include <editline/readline.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace evener::cli {

LineEditor::LineEditor()
    : is_terminal_(::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0) {
  if (is_terminal_) using_history();
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  if (!is_terminal_) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  const std::unique_ptr<char, void (*)(void*)> line(readline(prompt.c_str()), std::free);
  if (!line) return std::nullopt;
  if (*line != '\0') add_history(line.get());
  return std::string(line.get());
}

}  // namespace evener::cli
