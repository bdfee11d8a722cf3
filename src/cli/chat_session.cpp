#include "cli/chat_session.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "chat/output_parser.h"
#include "cli/settings_table.h"

namespace evener::cli {
namespace {

constexpr std::string_view kHelp =
    "  /new            forget the conversation\n"
    "  /system TEXT    set the system prompt and forget the conversation; without TEXT: none\n"
    "  /set NAME VALUE sampling: temperature, top_k, top_p, min_p, typical_p,\n"
    "                  repetition_penalty, seed, max_tokens; without NAME: show them\n"
    "  /exit           leave (also Ctrl-D)\n"
    "  Ctrl-C          stop the answer. A line that ends in \\ goes on in the next one.\n";

std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  const size_t end = text.find(' ');
  if (end == std::string_view::npos) return {text, {}};
  const size_t next = text.find_first_not_of(' ', end);
  return {text.substr(0, end),
          next == std::string_view::npos ? std::string_view() : text.substr(next)};
}

// Prints an answer as it streams, reasoning dimmed on terminals, and keeps the text that belongs in
// the conversation.
class AnswerPrinter {
 public:
  AnswerPrinter(const chat::TemplateCapabilities& capabilities, bool is_terminal)
      : parser_(chat::make_output_parser(
            {.format = capabilities.opens_thinking || capabilities.enable_thinking
                           ? chat::OutputFormat::think
                           : chat::OutputFormat::plain,
             .starts_in_reasoning = capabilities.opens_thinking})),
        is_terminal_(is_terminal) {}

  void push(std::string_view text) { print(parser_->push(text)); }

  std::string finish() {
    print(parser_->finish());
    dim(false);
    std::fputc('\n', stdout);
    return std::move(content_);
  }

 private:
  void print(const std::vector<chat::OutputEvent>& events) {
    for (const chat::OutputEvent& event : events) {
      const bool is_reasoning = event.kind == chat::OutputEvent::Kind::reasoning;
      dim(is_reasoning);
      std::fwrite(event.text.data(), 1, event.text.size(), stdout);
      if (!is_reasoning) content_ += event.text;
    }
    std::fflush(stdout);
  }

  void dim(bool on) {
    if (on == dimmed_) return;
    dimmed_ = on;
    if (is_terminal_) std::fputs(on ? "\x1b[2m" : "\x1b[0m", stdout);
  }

  std::unique_ptr<chat::OutputParser> parser_;
  std::string content_;
  bool is_terminal_;
  bool dimmed_ = false;
};

}  // namespace

ChatSession::ChatSession(engine::Engine& engine, chat::ChatTemplate chat_template,
                         Settings settings)
    : engine_(engine),
      template_(std::move(chat_template)),
      settings_(std::move(settings)),
      answer_(engine) {
  forget();
}

void ChatSession::forget() {
  conversation_.messages.clear();
  if (!settings_.system.empty())
    conversation_.messages.push_back({{"role", "system"}, {"content", settings_.system}});
}

Result<ChatSession::Outcome> ChatSession::handle(const std::string& line) {
  if (line.find_first_not_of(" \t") == std::string::npos) return Outcome::go_on;
  if (line.starts_with('/')) return run_command(line);
  RETURN_IF_ERROR(ask(line));
  return Outcome::go_on;
}

ChatSession::Outcome ChatSession::run_command(std::string_view line) {
  const auto [name, arguments] = split_word(line);
  if (name == "/exit" || name == "/quit") return Outcome::leave;
  if (name == "/new") {
    forget();
  } else if (name == "/system") {
    settings_.system = arguments;
    forget();
  } else if (name == "/set") {
    set(arguments);
  } else if (name == "/help") {
    fmt::print("{}", kHelp);
  } else {
    fmt::print("there is no command {}; /help lists them\n", printable(name, 40));
  }
  return Outcome::go_on;
}

void ChatSession::set(std::string_view arguments) {
  const auto [name, value] = split_word(arguments);
  fmt::print("{}", name.empty()
                       ? show_settings(settings_.sampling, settings_.max_tokens)
                       : change_setting(settings_.sampling, settings_.max_tokens, name, value));
}

// A question that cannot be answered is taken back, so that the conversation stays usable.
Result<void> ChatSession::ask(const std::string& text) {
  conversation_.messages.push_back({{"role", "user"}, {"content", text}});
  const auto take_back = [this](const Error& error) {
    conversation_.messages.erase(conversation_.messages.size() - 1);
    fmt::print("{}\n", to_string(error));
  };
  const Result<std::string> prompt = template_.render(conversation_);
  if (!prompt) {
    take_back(prompt.error());
    return {};
  }
  engine::GenerationRequest request;
  request.prompt = prompt_tokens(engine_.tokenizer(), *prompt);
  request.sampling = settings_.sampling;
  if (settings_.max_tokens > 0) request.max_new_tokens = settings_.max_tokens;
  const Result<std::string> content = stream_answer(std::move(request));
  if (content) {
    conversation_.messages.push_back({{"role", "assistant"}, {"content", *content}});
    return {};
  }
  take_back(content.error());
  if (content.error().code == Code::context_overflow)
    fmt::print("  /new begins a fresh conversation\n");
  return {};
}

Result<std::string> ChatSession::stream_answer(engine::GenerationRequest request) {
  AnswerPrinter printer(template_.capabilities(), settings_.is_terminal);
  ASSIGN_OR_RETURN(const engine::Update last,
                   answer_.wait(std::move(request), [&printer](const engine::Update& update) {
                     printer.push(update.text);
                   }));
  std::string content = printer.finish();
  if (settings_.is_terminal) print_figures(last);
  return content;
}

void ChatSession::print_figures(const engine::Update& last) const {
  const double prefill = last.timing.prefill.count();
  const double decode = last.timing.decode.count();
  const auto generated = static_cast<double>(last.num_generated_tokens);
  std::string text = fmt::format("{} tokens read in {:.2f} s", last.num_prompt_tokens, prefill);
  if (generated > 1 && decode > 0)
    text += fmt::format(", {} written at {:.1f} a second", last.num_generated_tokens,
                        (generated - 1) / decode);
  if (last.finish == engine::FinishReason::length) text += ", ended at the length limit";
  if (last.finish == engine::FinishReason::cancelled) text += ", stopped";
  fmt::print("\x1b[2m[{}]\x1b[0m\n", text);
}

}  // namespace evener::cli
