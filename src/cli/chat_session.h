#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "chat/chat_template.h"
#include "cli/answer.h"
#include "engine/engine.h"
#include "sample/params.h"

namespace evener::cli {

// A conversation in the terminal: lines in, streamed answers out, and commands that begin with a
// slash. One thread, but for interrupt().
class ChatSession {
 public:
  struct Settings {
    std::string system;
    sample::Params sampling;
    size_t max_tokens = 0;  // 0: no limit of its own
    bool is_terminal = false;
  };

  ChatSession(engine::Engine& engine, chat::ChatTemplate chat_template, Settings settings);

  enum class Outcome { go_on, leave };
  // One line that the user entered. Errors end the session; refusals are printed.
  Result<Outcome> handle(const std::string& line);

  // Ends a running answer, from any thread; false if there was none.
  bool interrupt() { return answer_.interrupt(); }

 private:
  Outcome run_command(std::string_view line);
  void set(std::string_view arguments);
  Result<void> ask(const std::string& text);
  Result<std::string> stream_answer(engine::GenerationRequest request);
  void print_figures(const engine::Update& last) const;
  void forget();

  engine::Engine& engine_;
  chat::ChatTemplate template_;
  Settings settings_;
  Answer answer_;
  chat::Conversation conversation_;
};

}  // namespace evener::cli
