#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "bench/checks.h"
#include "bench/client.h"
#include "bench/scripted_server.h"

// Goal: each misbehaviour of a server is named, and by its name alone decides what becomes of the
// cell. Method: the client of the bench asks a scripted server that does one thing wrong for three
// cold answers of forced length. The table is also that of docs/benchmarks.md, which must agree.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;
using Usage = Script::Usage;

struct Row {
  const char* misbehaviour;  // as in the document
  Fault fault;
  Severity severity;  // the worst of the fault's findings
  std::function<void(Script&)> change;
};

const Row kRows[] = {
    {"ends before the forced length (early EOS)", Fault::early_end, Severity::voids,
     [](auto& s) { s.ends_at = 12; }},
    {"ends at 92 % of the forced length", Fault::early_end, Severity::warning,
     [](auto& s) { s.ends_at = 37; }},
    {"answers a cold prompt from its cache", Fault::cached_prompt, Severity::voids,
     [](auto& s) { s.says_cached = true; }},
    {"knows the beginning of its template", Fault::cached_prompt, Severity::note,
     [](auto& s) { s.page_tokens = 1; }},
    {"does not say what it knew of the prompt", Fault::cold_unproven, Severity::warning,
     [](auto& s) { s.counts_cached = s.tells_timings = false; }},
    {"puts several tokens into an event", Fault::merged_events, Severity::warning,
     [](auto& s) {
       s.words_per_event = 4;
       s.counts_in_each_event = false;
     }},
    {"does so, and says how many", Fault::merged_events, Severity::note,
     [](auto& s) { s.words_per_event = 4; }},
    {"holds the stream back and sends it at once", Fault::buffered_stream, Severity::voids,
     [](auto& s) { s.holds_back = true; }},
    {"stands still in the middle of an answer", Fault::stall, Severity::warning,
     [](auto& s) {
       s.stalls_at = 30;
       s.stall = 300ms;
     }},
    {"answers 500", Fault::http_error, Severity::voids, [](auto& s) { s.status = 500; }},
    {"answers 503", Fault::http_error, Severity::voids, [](auto& s) { s.status = 503; }},
    {"does not know the model", Fault::refused, Severity::voids,
     [](auto& s) { s.models = {"another"}; }},
    {"wants another key", Fault::refused, Severity::voids, [](auto& s) { s.api_key = "secret"; }},
    {"is no such server at all, but a web page", Fault::http_error, Severity::voids,
     [](auto& s) { s.is_a_website = true; }},
    {"resets the connection in the stream", Fault::reset, Severity::voids,
     [](auto& s) { s.resets_at = 5; }},
    {"ends the stream without finish_reason", Fault::truncated_stream, Severity::voids,
     [](auto& s) { s.breaks_off_at = 5; }},
    {"leaves out [DONE]", Fault::truncated_stream, Severity::note,
     [](auto& s) { s.no_done = true; }},
    {"sends an error inside the stream", Fault::error_event, Severity::voids,
     [](auto& s) { s.error_event_at = 5; }},
    {"sends an event that is no JSON", Fault::malformed_event, Severity::warning,
     [](auto& s) { s.malformed_event_at = 5; }},
    {"counts no tokens", Fault::no_usage, Severity::warning,
     [](auto& s) { s.usage = Usage::none; }},
    {"counts fewer tokens than it sent events", Fault::wrong_usage, Severity::voids,
     [](auto& s) { s.usage = Usage::too_few_out; }},
    {"counts more tokens than were allowed", Fault::wrong_usage, Severity::voids,
     [](auto& s) { s.usage = Usage::too_many_out; }},
    {"counts a prompt of another size", Fault::wrong_usage, Severity::warning,
     [](auto& s) { s.usage = Usage::other_prompt; }},
    {"takes counts back within a stream", Fault::wrong_usage, Severity::voids,
     [](auto& s) { s.usage = Usage::shrinks; }},
    {"answers 200 and says nothing", Fault::empty_answer, Severity::voids,
     [](auto& s) { s.silent = true; }},
};

constexpr uint32_t kTokensOut = 40;
constexpr uint32_t kTokensIn = 50;

// A message of which the whole prompt has kTokensIn tokens, and begins as no other.
std::string cold_message(int number) {
  std::string text = fmt::format("nonce{}", number);
  for (uint32_t i = 4; i < kTokensIn; ++i) text += " word";  // 3 are the template's
  return text;
}

RequestPlan plan(int number) {
  RequestPlan out;
  out.cell = "cell";
  out.label = fmt::format("request {}", number);
  out.messages = {{.role = "user", .content = cold_message(number)}};
  out.num_tokens_in_wanted = kTokensIn;
  out.max_tokens = kTokensOut;
  out.force_length = true;
  out.timeout = 60s;
  return out;
}

std::unique_ptr<Client> client_of(const std::string& url) {
  Target target;
  target.url = url;
  target.model = "scripted";
  auto client = Client::create(target, Clock::now());
  EXPECT_TRUE(client) << to_string(client.error());
  return client ? *std::move(client) : nullptr;
}

Expectations expectations() {
  Expectations out;
  out.cold = true;
  out.forced_length = true;
  return out;
}

std::vector<Finding> measure(const std::string& url) {
  const auto client = client_of(url);
  if (!client) return {};
  std::vector<RequestRecord> records;
  for (int i = 0; i < 3; ++i) records.push_back(client->ask(plan(i)));
  CellRecord cell;
  cell.key = "cell";
  return check_cell(cell, records, expectations());
}

// What a busy machine may add on its own.
bool is_of_timing(Fault fault) { return fault == Fault::stall || fault == Fault::buffered_stream; }

const char* to_word(Severity severity) {
  constexpr const char* kWords[] = {"note", "warning", "voids"};
  return kWords[size_t(severity)];
}

std::string words(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& f : findings) {
    out += fmt::format("  {} {}: {}\n", to_word(f.fault), to_word(f.severity), f.detail);
  }
  return out;
}

TEST(Detection, FindsNothingInAServerThatBehavesWell) {
  const ScriptedServer server;
  auto findings = measure(server.url());
  std::erase_if(findings, [](const Finding& f) { return is_of_timing(f.fault); });
  EXPECT_TRUE(findings.empty()) << words(findings);
}

TEST(Detection, NamesEachMisbehaviour) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.misbehaviour);
    Script script;
    row.change(script);
    const ScriptedServer server(script);
    const auto findings = measure(server.url());
    Severity worst = Severity::note;
    bool found = false;
    for (const Finding& f : findings) {
      if (f.fault != row.fault) continue;
      found = true;
      worst = std::max(worst, f.severity);
    }
    EXPECT_TRUE(found) << words(findings);
    EXPECT_EQ(worst, row.severity) << words(findings);
  }
}

TEST(Detection, NamesAServerThatIsNotThere) {
  std::string url;
  {
    const ScriptedServer server;
    url = server.url();
  }
  const auto findings = measure(url);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].fault, Fault::server_down) << words(findings);
}

TEST(Detection, NamesAPromptThatAFlushDidNotForget) {
  Script script;
  script.flush_does_nothing = true;
  const ScriptedServer server(script);
  const auto client = client_of(server.url());
  ASSERT_NE(client, nullptr);
  client->ask(plan(0));
  const auto flushed = client->post("/flush_cache", "");
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->status, 200);
  const auto findings = check_request(client->ask(plan(0)), expectations());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].fault, Fault::cached_prompt) << words(findings);
}

TEST(Detection, NamesAnAnswerThatTookTooLong) {
  Script script;
  script.hold_at = 3;
  const ScriptedServer server(script);
  const auto client = client_of(server.url());
  ASSERT_NE(client, nullptr);
  RequestPlan asked = plan(0);
  asked.timeout = 50ms;
  const auto findings = check_request(client->ask(asked), expectations());
  ASSERT_EQ(findings.size(), 1) << words(findings);
  EXPECT_EQ(findings[0].fault, Fault::timed_out);
}

TEST(Detection, IsWhatTheDocumentSays) {
  std::ifstream file(EVENER_TEST_DATA "/../../docs/benchmarks.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const Row& row : kRows) {
    const std::string line = fmt::format("| {} | `{}` | {} |", row.misbehaviour, to_word(row.fault),
                                         to_word(row.severity));
    EXPECT_NE(text.find(line), std::string::npos) << "is missing: " << line;
  }
}

}  // namespace
}  // namespace evener::bench
