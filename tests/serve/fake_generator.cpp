#include "serve/fake_generator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace evener::serve {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);  // of a test that is about to fail

engine::TokenOutput output_of(char byte) {
  const auto id = static_cast<TokenId>(static_cast<unsigned char>(byte));
  return {.chosen = {.id = id, .bytes = std::string(1, byte), .logprob = -0.5F},
          .top = {{.id = id, .bytes = std::string(1, byte), .logprob = -0.5F},
                  {.id = 'z', .bytes = "z", .logprob = -2}}};
}

}  // namespace

FakeGenerator::FakeGenerator() {
  facts_.id = "fake";
  facts_.vocab_size = 256;
  facts_.trained_context = 4096;
  facts_.admissible_tokens = 1000;
  facts_.max_sequences = 4;
}

Result<engine::SequenceId> FakeGenerator::submit(engine::GenerationRequest request,
                                                 engine::Sink sink) {
  const std::lock_guard lock(mutex_);
  if (refuses_) {
    return Error{.code = Code::unavailable,
                 .doing = "accept the request",
                 .where = "",
                 .why = "the queue is full",
                 .remedy = ""};
  }
  Sequence sequence{.request = std::move(request), .sink = std::move(sink), .so_far = {}};
  sequence.so_far.num_prompt_tokens = sequence.request.prompt.size();
  sequences_.push_back(std::move(sequence));
  changed_.notify_all();
  return sequences_.size();
}

void FakeGenerator::cancel(engine::SequenceId id) {
  const std::lock_guard lock(mutex_);
  sequences_.at(id - 1).cancelled = true;
  changed_.notify_all();
}

std::vector<TokenId> FakeGenerator::tokenize(std::string_view text, TokenizeOptions) const {
  std::vector<TokenId> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

std::string FakeGenerator::token_bytes(TokenId id) const {
  return std::string(1, static_cast<char>(id));
}

std::string FakeGenerator::detokenize(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) text += token_bytes(id);
  return text;
}

void FakeGenerator::say(engine::SequenceId id, std::string text) {
  const std::string tokens = text;
  say(id, std::move(text), tokens);
}

void FakeGenerator::say(engine::SequenceId id, std::string text, const std::string& tokens) {
  engine::Update update;
  update.text = std::move(text);
  for (const char byte : tokens) update.tokens.push_back(output_of(byte));
  send(id, std::move(update));
}

void FakeGenerator::read_prompt(engine::SequenceId id,
                                std::vector<engine::TokenOutput> prompt_tokens) {
  engine::Update update;
  update.prompt_tokens = std::move(prompt_tokens);
  send(id, std::move(update));
}

void FakeGenerator::wait_in_queue(engine::SequenceId id, size_t num_ahead) {
  engine::Update update;
  update.num_ahead = num_ahead;
  send(id, std::move(update));
}

void FakeGenerator::read_some(engine::SequenceId id, size_t num_cached, size_t num_prefilled) {
  {
    const std::lock_guard lock(mutex_);
    sequences_.at(id - 1).so_far.num_cached_tokens = num_cached;
  }
  engine::Update update;
  update.num_prefilled_tokens = num_prefilled;
  send(id, std::move(update));
}

void FakeGenerator::finish(engine::SequenceId id, engine::FinishReason reason) {
  engine::Update update;
  update.finish = reason;
  send(id, std::move(update));
}

void FakeGenerator::fail(engine::SequenceId id, Error error) {
  engine::Update update;
  update.finish = engine::FinishReason::failed;
  update.error = std::move(error);
  send(id, std::move(update));
}

void FakeGenerator::send(engine::SequenceId id, engine::Update update) {
  engine::Sink sink;
  {
    const std::lock_guard lock(mutex_);
    Sequence& sequence = sequences_.at(id - 1);
    sequence.so_far.num_generated_tokens += update.tokens.size();
    update.num_prompt_tokens = sequence.so_far.num_prompt_tokens;
    update.num_cached_tokens = sequence.so_far.num_cached_tokens;
    if (!update.num_ahead && update.num_prefilled_tokens == 0)
      update.num_prefilled_tokens = sequence.so_far.num_prompt_tokens;
    update.num_generated_tokens = sequence.so_far.num_generated_tokens;
    sink = std::move(sequence.sink);
  }
  const bool last = update.finish.has_value();
  sink(std::move(update));
  if (last) return;
  const std::lock_guard lock(mutex_);
  sequences_.at(id - 1).sink = std::move(sink);
}

engine::GenerationRequest FakeGenerator::request(engine::SequenceId id) {
  const std::lock_guard lock(mutex_);
  return sequences_.at(id - 1).request;
}

size_t FakeGenerator::num_requests() {
  const std::lock_guard lock(mutex_);
  return sequences_.size();
}

void FakeGenerator::wait_for_requests(size_t count) {
  std::unique_lock lock(mutex_);
  ASSERT_TRUE(changed_.wait_for(lock, kPatience, [&] { return sequences_.size() >= count; }));
}

void FakeGenerator::wait_for_cancellation(engine::SequenceId id) {
  std::unique_lock lock(mutex_);
  ASSERT_TRUE(changed_.wait_for(lock, kPatience, [&] { return sequences_.at(id - 1).cancelled; }));
}

bool FakeGenerator::was_cancelled(engine::SequenceId id) {
  const std::lock_guard lock(mutex_);
  return sequences_.at(id - 1).cancelled;
}

namespace {

class Borrowed : public Generator {
 public:
  explicit Borrowed(FakeGenerator& owner) : owner_(owner) {}
  Result<engine::SequenceId> submit(engine::GenerationRequest request, engine::Sink sink) override {
    return owner_.submit(std::move(request), std::move(sink));
  }
  void cancel(engine::SequenceId id) override { owner_.cancel(id); }
  void flush_cache() override { owner_.flush_cache(); }
  const engine::ModelFacts& facts() const override { return owner_.facts(); }
  const engine::EngineOptions& options() const override { return owner_.options(); }
  engine::Stats stats() const override { return owner_.stats(); }
  std::vector<TokenId> tokenize(std::string_view text, TokenizeOptions options) const override {
    return owner_.tokenize(text, options);
  }
  bool ends_turn(TokenId id) const override { return owner_.ends_turn(id); }
  std::string token_bytes(TokenId id) const override { return owner_.token_bytes(id); }
  std::string detokenize(std::span<const TokenId> ids) const override {
    return owner_.detokenize(ids);
  }

 private:
  FakeGenerator& owner_;
};

}  // namespace

std::unique_ptr<Generator> FakeGenerator::borrowed() { return std::make_unique<Borrowed>(*this); }

namespace {

chat::ChatTemplate parse(std::string source) {
  auto parsed = chat::ChatTemplate::parse(std::move(source), {});
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : to_string(parsed.error()));
  return *std::move(parsed);
}

constexpr const char* kTurns =
    "{% if tools %}<tools>{{ tools | tojson }}</tools>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}<call>{{ c.function.name }}"
    "{{ c.function.arguments | tojson }}</call>{% endfor %}{% endif %}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>";

}  // namespace

chat::ChatTemplate plain_template() { return parse(std::string(kTurns) + "{% endif %}"); }

chat::ChatTemplate thinking_template() {
  return parse(std::string(kTurns) +
               "{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}"
               "{% endif %}");
}

ServicePtr make_service(FakeGenerator& generator, chat::ChatTemplate chat_template) {
  auto borrowed = generator.borrowed();
  return std::make_shared<const Service>(Service{.generator = std::move(borrowed),
                                                 .chat_template = std::move(chat_template),
                                                 .model_id = "fake",
                                                 .created_seconds = 1});
}

}  // namespace evener::serve
