#include "cli/bench_options.h"

#include <cctype>

#include "cli/bench_store_option.h"

namespace evener::cli {

void add_server_options(CommandLine& line, BenchOptions& options) {
  line.begin_group("Server");
  bench::Target& target = options.target;
  const Option url =
      line.add("--url", target.url,
               "OpenAI-compatible server to measure, as http://127.0.0.1:8000; without: an evener "
               "serve is started for the run");
  line.add("--model", target.model, "its name for the model; default: the first it lists");
  line.add("--api-key", target.api_key, "key that it asks for").from_environment("EVENER_API_KEY");
  line.add("--ca-file", target.ca_file, "certificates to trust, instead of the system's");
  line.add("--insecure", options.insecure, "take any certificate of an https server");
  line.add("--serve-model", options.serve_model,
           "GGUF file or folder for the server that is started; default: the bundled model")
      .excludes(url);
  line.add("--server-args", options.server_args, "further words for it: \"--ctx 8192 --kv q8_0\"")
      .excludes(url);
  line.add("--card", options.cards,
           "bus address (0000:03:00.0) of a card that must be seen at work; may be given again");
  line.begin_group("Requests");
  bench::ExperimentOptions& experiment = options.experiment;
  line.add("--output-tokens", experiment.num_tokens_out, "tokens of an answer, forced")
      .between(2, 1'000'000);
  line.add("--allow-cached", experiment.allow_cached,
           "neither flush the server's cache nor void what was answered from it");
  line.add("--timeout", options.timeout_s, "seconds that one request may take")
      .between(0.1, 86'400);
}

void add_run_options(CommandLine& line, BenchOptions& options) {
  line.begin_group("Run");
  line.add("--rounds", options.experiment.num_rounds, "times that every point is measured")
      .between(1, 1000);
  line.add("--seed", options.experiment.seed, "seed of texts, arrivals and answers");
  add_store_option(line, options.store);
  line.add("--note", options.note, "words to find the run by");
  line.begin_group("Report");
  add_report_options(line, options.report);
}

Result<std::vector<std::string>> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '"' || c == '\'') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote == 0) return words;
  return Error{.code = Code::invalid_argument,
               .doing = "read --server-args",
               .where = text,
               .why = "a quote does not end",
               .remedy = {}};
}

}  // namespace evener::cli
