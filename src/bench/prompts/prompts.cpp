#include "bench/prompts.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "bench/prompts/text_stream.h"

namespace evener::bench {
namespace {

constexpr size_t kNonceLetters = 14;
// A prompt longer than this is not sent to learn its length: the mean of so many words is right to
// far better than a hundredth.
constexpr uint64_t kMeasuredTokens = 4096;
constexpr size_t kLearnedWords = 768;
constexpr uint64_t kMaxTokens = 4'000'000;
constexpr double kTokensPerWordAtFirst = 1.3;
constexpr int kMaxTries = 24;
constexpr std::string_view kFiller = " and";

// Letters with spaces between them: one token each with nearly every vocabulary, and always the
// same number of tokens, which random digits or hexadecimal are not.
Result<std::string> make_nonce() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != ssize_t{sizeof random})
    return Error{.code = Code::internal,
                 .doing = "make a prompt that no cache knows",
                 .where = {},
                 .why = "the system gives no random bytes",
                 .remedy = {}};
  std::string nonce;
  for (size_t i = 0; i < kNonceLetters; ++i) {
    if (i > 0) nonce += ' ';
    nonce += char('a' + random % 26);
    random /= 26;
  }
  return nonce;
}

struct Layout {
  std::string_view shared;
  std::string_view nonce;
  TextKind kind;
};

std::string compose(const Layout& layout, std::string_view body, size_t num_fillers) {
  std::string text;
  if (!layout.shared.empty()) text.append(layout.shared).append("\n\n");
  text.append(layout.nonce).append(".\n\n");
  if (!body.empty()) text.append(body);
  for (size_t i = 0; i < num_fillers; ++i) text.append(kFiller);
  if (!body.empty() || num_fillers > 0) text.append("\n\n");
  return text.append(request_for_more(layout.kind));
}

Error too_short(uint64_t num_tokens, uint64_t least) {
  return Error{.code = Code::limit_exceeded,
               .doing = "make a prompt",
               .where = {},
               .why = fmt::format("{} tokens are wanted; the template, the nonce and the request "
                                  "at the end take {}",
                                  num_tokens, least),
               .remedy = "ask for longer prompts"};
}

uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

Prompts::Prompts(Client& client, Server& server, uint64_t seed)
    : client_(client), server_(server), seed_(seed) {}

uint64_t Prompts::text_seed() const { return seed_ * 0x9E3779B97F4A7C15U + num_texts_; }

Result<uint64_t> Prompts::count_by_usage(const std::string& message) {
  RequestPlan plan;
  plan.label = "learn the length of a prompt";
  plan.excluded = true;
  plan.messages = {{.role = "user", .content = message}};
  plan.max_tokens = 1;
  const RequestRecord record = client_.ask(std::move(plan));
  if (record.finish != Finish::stop && record.finish != Finish::length)
    return Error{.code = Code::unavailable,
                 .doing = "learn the length of a prompt",
                 .where = client_.target().url,
                 .why = record.error.empty() ? "the answer was cut off" : record.error,
                 .remedy = {}};
  if (!record.num_tokens_in)
    return Error{
        .code = Code::unsupported,
        .doing = "learn the length of a prompt",
        .where = client_.target().url,
        .why = "the server says nowhere how many tokens a prompt has (no usage)",
        .remedy = "measure a server that gives usage; lengths are never guessed from text"};
  return *record.num_tokens_in;
}

Result<uint64_t> Prompts::count_by_tokenizer(const std::string& message) {
  if (!template_tokens_) {
    ASSIGN_OR_RETURN(const std::string nonce, make_nonce());
    const std::string text = compose({{}, nonce, TextKind::prose}, {}, 0);
    ASSIGN_OR_RETURN(const uint64_t alone, server_.count_tokens(text));
    ASSIGN_OR_RETURN(const uint64_t whole, count_by_usage(text));
    template_tokens_ = int64_t(whole) - int64_t(alone);
  }
  ASSIGN_OR_RETURN(const uint64_t alone, server_.count_tokens(message));
  return uint64_t(std::max<int64_t>(0, int64_t(alone) + *template_tokens_));
}

// Narrows the number of words between two bounds; the fillers make up what whole words cannot.
Result<Prompts::Fit> Prompts::search(TextKind kind, const Aim& aim, const Count& count) {
  double& slope = tokens_per_word_.try_emplace(kind, kTokensPerWordAtFirst).first->second;
  Fit low;
  ASSIGN_OR_RETURN(uint64_t tokens_low, count(low));
  if (tokens_low > aim.num_tokens) return too_short(aim.num_tokens, tokens_low);
  Fit best = low;
  uint64_t best_tokens = tokens_low;
  size_t high = aim.num_tokens + 1;  // no word is less than a token
  for (int i = 0; i < kMaxTries; ++i) {
    if (distance(best_tokens, aim.num_tokens) <= aim.tolerance) return best;
    const bool whole_words = high - low.num_words > 1;
    Fit next = low;
    if (whole_words) {
      const double words = double(aim.num_tokens - tokens_low) / slope;
      next.num_words +=
          std::clamp(size_t(std::llround(words)), size_t{1}, high - low.num_words - 1);
    } else {
      next.num_fillers += aim.num_tokens - tokens_low;
      if (next.num_fillers == low.num_fillers) break;
    }
    ASSIGN_OR_RETURN(const uint64_t tokens, count(next));
    if (distance(tokens, aim.num_tokens) < distance(best_tokens, aim.num_tokens)) {
      best = next;
      best_tokens = tokens;
    }
    if (!whole_words) {
      if (tokens >= aim.num_tokens) break;  // a filler is several tokens here
      low = next;
      tokens_low = tokens;
      continue;
    }
    if (next.num_words > 16 && tokens > tokens_low)
      slope = double(tokens - tokens_low) / double(next.num_words - low.num_words);
    if (tokens <= aim.num_tokens) {
      low = next;
      tokens_low = tokens;
    } else {
      high = next.num_words;
    }
  }
  return best;
}

Result<Prompts::Fit> Prompts::fit_exact(std::string_view shared, TextKind kind,
                                        const std::string& nonce, uint64_t num_tokens) {
  TextStream stream(kind, text_seed());
  return search(kind, {.num_tokens = num_tokens, .tolerance = 0}, [&](const Fit& fit) {
    return count_by_tokenizer(
        compose({shared, nonce, kind}, stream.first(fit.num_words), fit.num_fillers));
  });
}

Result<Prompts::Fit> Prompts::fit_learned(std::string_view shared, TextKind kind,
                                          uint64_t num_tokens) {
  const auto key = std::tuple(kind, num_tokens, uint64_t(std::hash<std::string_view>{}(shared)));
  if (const auto known = learned_.find(key); known != learned_.end()) return known->second;
  TextStream stream(kind, text_seed());
  // A nonce of its own before all of it: what is measured must not be known to the cache later.
  const auto measure = [&](std::string_view before, const Fit& fit) -> Result<uint64_t> {
    ASSIGN_OR_RETURN(const std::string hidden, make_nonce());
    ASSIGN_OR_RETURN(const std::string nonce, make_nonce());
    std::string begin = hidden;
    if (!before.empty()) begin.append("\n\n").append(before);
    return count_by_usage(
        compose({begin, nonce, kind}, stream.first(fit.num_words), fit.num_fillers));
  };
  if (!nonce_tokens_) {
    ASSIGN_OR_RETURN(const std::string nonce, make_nonce());
    ASSIGN_OR_RETURN(const uint64_t one, count_by_usage(compose({{}, nonce, kind}, {}, 0)));
    ASSIGN_OR_RETURN(const uint64_t two, measure({}, {}));
    nonce_tokens_ = two > one ? two - one : 0;
  }
  const auto count = [&](const Fit& fit) -> Result<uint64_t> {
    ASSIGN_OR_RETURN(const uint64_t tokens, measure(shared, fit));
    return tokens - std::min(tokens, *nonce_tokens_);
  };
  Fit fit;
  if (num_tokens <= kMeasuredTokens) {
    const Aim aim{.num_tokens = num_tokens, .tolerance = std::max<uint64_t>(1, num_tokens / 200)};
    ASSIGN_OR_RETURN(fit, search(kind, aim, count));
  } else {
    ASSIGN_OR_RETURN(const uint64_t least, count({}));
    if (least > num_tokens) return too_short(num_tokens, least);
    ASSIGN_OR_RETURN(const uint64_t some, count({.num_words = kLearnedWords}));
    const double slope = double(std::max(some, least + 1) - least) / double(kLearnedWords);
    fit.num_words = size_t(std::llround(double(num_tokens - least) / slope));
  }
  learned_.emplace(key, fit);
  return fit;
}

Result<std::string> Prompts::cold(TextKind kind, uint64_t num_tokens) {
  return after({}, kind, num_tokens);
}

Result<std::string> Prompts::after(std::string_view shared, TextKind kind, uint64_t num_tokens) {
  if (num_tokens > kMaxTokens)
    return Error{
        .code = Code::limit_exceeded,
        .doing = "make a prompt",
        .where = {},
        .why = fmt::format("{} tokens are wanted, at most {} are made", num_tokens, kMaxTokens),
        .remedy = {}};
  ASSIGN_OR_RETURN(const std::string nonce, make_nonce());
  Fit fit;
  if (server_.facts().has_tokenize) {
    ++num_texts_;
    ASSIGN_OR_RETURN(fit, fit_exact(shared, kind, nonce, num_tokens));
  } else {
    ASSIGN_OR_RETURN(fit, fit_learned(shared, kind, num_tokens));
  }
  TextStream stream(kind, text_seed());
  return compose({shared, nonce, kind}, stream.first(fit.num_words), fit.num_fillers);
}

}  // namespace evener::bench
