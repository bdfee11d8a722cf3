#include "bench/run_caliber.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>

#include "base/version.h"
#include "bench/client.h"

namespace evener::bench {
namespace {

// The options of one experiment.
class Section {
 public:
  Section(Caliber& caliber, std::string name) : caliber_(caliber), name_(std::move(name)) {}

  template <typename T>
  Section& add(const char* key, const T& value) {
    caliber_[fmt::format("option.{}.{}", name_, key)] = fmt::format("{}", value);
    return *this;
  }
  template <typename T>
  Section& add_list(const char* key, const std::vector<T>& values) {
    if (values.empty()) return *this;
    return add(key, fmt::format("{}", fmt::join(values, ",")));
  }
  Section& add_if(const char* key, const std::optional<double>& value) {
    return value ? add(key, *value) : *this;
  }
  Section& add_path(const char* key, const std::filesystem::path& path) {
    return path.empty() ? *this : add(key, path.filename().string());
  }

 private:
  Caliber& caliber_;
  std::string name_;
};

void add_load(Caliber& caliber, const ExperimentOptions& options) {
  const auto& load = options.load;
  Section(caliber, "load")
      .add_list("rates", load.rates)
      .add("burstiness", load.burstiness)
      .add("time_s", load.time.count())
      .add("num_tokens_in", options.concurrency.num_tokens_in)
      .add_if("ttft_ms", load.limits.ttft_ms)
      .add_if("tpot_ms", load.limits.tpot_ms)
      .add_if("gap_max_ms", load.limits.gap_max_ms)
      .add_if("e2e_ms", load.limits.e2e_ms)
      .add_path("trace", load.trace);
}

void add_starvation(Caliber& caliber, const ExperimentOptions& options) {
  Section(caliber, "starvation")
      .add_list("attackers", options.starvation.attackers)
      .add("num_tokens_victim", options.starvation.num_tokens_victim);
}

void add_prefix(Caliber& caliber, const ExperimentOptions& options) {
  const auto& prefix = options.prefix;
  Section(caliber, "prefix")
      .add("num_sessions", prefix.num_sessions)
      .add("num_turns", prefix.num_turns)
      .add("num_tokens_shared", prefix.num_tokens_shared)
      .add("num_tokens_new", prefix.num_tokens_new);
}

void add_coldstart(Caliber& caliber, const ExperimentOptions& options) {
  const auto& coldstart = options.coldstart;
  Section section(caliber, "coldstart");
  if (!coldstart.command.empty()) section.add("command", coldstart.command);
  if (!coldstart.unit.empty()) section.add("unit", coldstart.unit);
  section.add("drop_page_cache", coldstart.drop_page_cache);
}

std::string cache_state(const ExperimentOptions& options, const ServerFacts& facts) {
  if (options.allow_cached) return "as it is";
  return facts.has_flush ? "cold: flushed before each cell, prompts begin with a nonce"
                         : "cold: prompts begin with a nonce";
}

}  // namespace

Caliber tool_caliber() {
  return {{"tool.version", std::string(kVersion)}, {"tool.commit", std::string(kCommit)}};
}

Caliber method_caliber(const ExperimentOptions& options, const ServerFacts& facts,
                       const CpuShare& cpus) {
  return {
      {"method.cache", cache_state(options, facts)},
      {"method.warm_up", fmt::format("one request a shape, then {} ms idle", options.idle.count())},
      {"method.length_control",
       facts.ignores_eos ? "the end of the text is ignored" : "a counting task"},
      {"method.prompt_lengths", facts.has_tokenize ? "by the server's tokenizer" : "by its usage"},
      {"method.percentile", "nearest rank"},
      {"method.temperature", "0"},
      {"method.seed", std::to_string(options.seed)},
      {"method.rounds", std::to_string(options.num_rounds)},
      {"method.client_priority", client_goes_first() ? "before others" : "as others"},
      {"method.client_cpus", cpus.client.empty() ? "not divided from the server's"
                                                 : fmt::format("{}", fmt::join(cpus.client, ","))},
  };
}

Caliber option_caliber(const ExperimentOptions& options, const std::string& name) {
  Caliber caliber;
  caliber["option.num_tokens_out"] = std::to_string(options.num_tokens_out);
  caliber["option.timeout_ms"] = std::to_string(options.timeout.count());
  const auto is_asked = [&name](const char* experiment) {
    return name == experiment || name == "all";
  };
  if (is_asked("sweep")) Section(caliber, "sweep").add_list("lengths", options.sweep.lengths);
  if (is_asked("concurrency")) {
    Section(caliber, "concurrency")
        .add_list("levels", options.concurrency.levels)
        .add("num_tokens_in", options.concurrency.num_tokens_in)
        .add("time_s", options.concurrency.time.count());
  }
  if (is_asked("load")) add_load(caliber, options);
  if (is_asked("starvation")) add_starvation(caliber, options);
  if (is_asked("prefix")) add_prefix(caliber, options);
  if (is_asked("soak")) {
    Section(caliber, "soak")
        .add("time_s", options.soak.time.count())
        .add("num_users", options.soak.num_users);
  }
  if (is_asked("quality")) {
    Section(caliber, "quality")
        .add_list("needle_lengths", options.quality.needle_lengths)
        .add("num_tokens_out_max", options.quality.num_tokens_out_max)
        .add("run_code", options.quality.run_code);
  }
  if (name == "coldstart") add_coldstart(caliber, options);
  if (is_asked("link")) Section(caliber, "link").add_list("sizes_bytes", options.link.sizes_bytes);
  return caliber;
}

}  // namespace evener::bench
