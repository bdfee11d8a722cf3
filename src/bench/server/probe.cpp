#include <fmt/format.h>

#include "base/text.h"
#include "bench/server/model_list.h"
#include "bench/server/remote_server.h"

namespace evener::bench {
namespace {

constexpr uint32_t kTokensAsked = 16;
constexpr std::chrono::seconds kPatience{300};  // Ollama loads its model now

// Answered in a word or two, unless the length is forced.
RequestPlan small_request(bool force_length) {
  RequestPlan plan;
  plan.cell = "probe";
  plan.label = force_length ? "probe" : "probe, length not forced";
  plan.excluded = true;
  plan.messages = {{.role = "user", .content = "Reply with the word yes."}};
  plan.max_tokens = kTokensAsked;
  plan.force_length = force_length;
  plan.timeout = kPatience;
  return plan;
}

Error cannot_answer(const Client& client, const RequestRecord& record) {
  Error error{.code = Code::unavailable,
              .doing = "measure the server",
              .where = client.target().url,
              .why = "a small request failed: " + printable(record.error, 300),
              .remedy = "see the server's log"};
  if (record.http_status == 401 || record.http_status == 403) {
    error.code = Code::permission_denied;
    error.remedy = "give the server's key with --api-key";
  } else if (record.http_status == 404) {
    error.code = Code::corrupt;
    error.remedy = "--url must be that of an OpenAI-compatible server";
  }
  return error;
}

Status ask_small(Client& client, ServerFacts& facts) {
  RequestRecord record = client.ask(small_request(true));
  bool forced = true;
  if (record.http_status == 400 || record.http_status == 422) {  // it knows no such field
    forced = false;
    record = client.ask(small_request(false));
  }
  if (record.finish == Finish::error || record.finish == Finish::timeout) {
    return cannot_answer(client, record);
  }
  facts.counts_tokens = record.num_tokens_out.has_value();
  facts.counts_cached = record.num_tokens_cached.has_value();
  facts.tells_timings = record.server.prefill_ms || record.server.decode_ms;
  facts.ignores_eos = forced && record.finish == Finish::length &&
                      record.num_tokens_out.value_or(record.events.size()) >= kTokensAsked;
  return {};
}

bool is_loopback(std::string_view url) {
  const size_t scheme = url.find("://");
  const std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

void note_number(Caliber& caliber, const char* name, const std::optional<uint64_t>& value) {
  if (value) caliber[name] = std::to_string(*value);
}

void describe(Look& look, const Kind& kind, const json::Value& entry, ServerFacts& facts) {
  facts.kind = kind.kind;
  kind.read(look, entry, facts);
  facts.has_flush = kind.flush && kind.can_flush(look);
  facts.has_metrics = look.metrics() != nullptr;
  facts.has_tokenize = count_tokens_by(look.client(), kind, facts, "one two three").value_or(0) > 0;

  Caliber& caliber = facts.caliber;
  caliber["server.kind"] = kind.word;
  caliber["server.url_kind"] = is_loopback(look.client().target().url) ? "loopback" : "network";
  caliber["model.id"] = printable(facts.model);
  note_number(caliber, "engine.context_tokens", facts.context_tokens);
  note_number(caliber, "engine.max_running", facts.max_running);
  note_number(caliber, "engine.chunk_tokens", facts.chunk_tokens);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::probe(Client& client) {
  ASSIGN_OR_RETURN(const json::Value entry, find_model(client));
  ServerFacts facts;
  facts.model = entry.at("id").get<std::string>();
  RETURN_IF_ERROR(ask_small(client, facts));  // first: what is loaded only then can be looked at
  Look look(client);
  const Kind& kind = kind_of(look);
  describe(look, kind, entry, facts);
  return std::make_unique<RemoteServer>(client, kind, std::move(facts));
}

}  // namespace evener::bench
