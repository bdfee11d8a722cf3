// evener quantize: a model in fewer bits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/long_work.h"
#include "cli/output_options.h"
#include "device/cpu/cpu_node.h"
#include "engine/open_model.h"
#include "gguf/file.h"
#include "gguf/summary.h"
#include "quantise/quantise.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path input;
  OutputOptions output;
  std::string type;
  std::filesystem::path imatrix;
  size_t num_threads = 0;
  bool dry_run = false;
};
Options options;

std::string recipe_names() {
  std::string names;
  for (const quantise::Recipe& recipe : quantise::recipes())
    names += (names.empty() ? "" : ", ") + std::string(recipe.name);
  return names;
}

void add_options(CommandLine& line) {
  line.add("IN", options.input,
           "GGUF file, of a split one any part, or Hugging Face folder; best in F16, BF16 or F32")
      .required();
  add_output_options(line, options.output);
  line.add("TYPE", options.type, recipe_names()).required();
  line.add("--imatrix", options.imatrix,
           "importance matrix of this model, GGUF or .dat: spends the bits where they matter");
  line.add("--threads", options.num_threads, "threads that compute; 0: one per physical core")
      .between(0, 1024);
  line.add("--dry-run", options.dry_run, "say what would come out, and write nothing");
}

Error refuse(std::string where, std::string why, std::string remedy) {
  return {.code = Code::invalid_argument,
          .doing = "quantize",
          .where = std::move(where),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

Result<const quantise::Recipe*> chosen_recipe() {
  const quantise::Recipe* const recipe = quantise::find_recipe(options.type);
  if (recipe != nullptr) return recipe;
  return refuse("TYPE", "'" + printable(options.type, 40) + "' is none that Evener writes",
                "one of " + recipe_names());
}

Status check_not_input(const gguf::File& input) {
  std::error_code ignored;
  for (const std::string& name : input.names()) {
    if (std::filesystem::equivalent(name, options.output.path, ignored))
      return refuse(options.output.path.string(), "is the input itself", "write to another file");
  }
  return {};
}

// All cores of the machine that this process may use, over all its NUMA nodes.
Result<std::vector<int>> worker_cpus() {
  ASSIGN_OR_RETURN(const auto nodes, device::cpu::read_cpu_nodes());
  std::vector<int> cpus;
  for (const auto& node : nodes) cpus.insert(cpus.end(), node.cpus.begin(), node.cpus.end());
  if (options.num_threads == 0) return cpus;
  std::vector<int> chosen;
  for (size_t i = 0; i < options.num_threads; ++i) chosen.push_back(cpus[i % cpus.size()]);
  return chosen;
}

double bits_per_weight(uint64_t bytes, uint64_t num_weights) {
  return 8 * static_cast<double>(bytes) / static_cast<double>(num_weights);
}

bool is_quantised(DType dtype) { return info(dtype).block_size > 1; }

void print_plan(const quantise::Plan& plan) {
  const gguf::Summary summary = gguf::summarise(*plan.input);
  struct Share {
    uint64_t num_tensors = 0;
    uint64_t num_weights = 0;
    uint64_t bytes = 0;
  };
  std::map<DType, Share> shares;
  uint64_t num_requantised = 0;
  for (const quantise::TensorPlan& tensor : plan.tensors) {
    Share& share = shares[tensor.dtype];
    ++share.num_tensors;
    share.num_weights += tensor.tensor->num_elements();
    share.bytes += tensor.output_bytes();
    if (!tensor.is_copy() && is_quantised(tensor.tensor->dtype)) ++num_requantised;
  }
  fmt::print("{}: {} parameters, {}, {:.2f} bits per weight\n", plan.input->name(),
             count_text(summary.num_parameters), bytes_text(summary.tensor_bytes),
             summary.bits_per_weight());
  fmt::print("  to {}: {}, {:.2f} bits per weight\n", plan.recipe->name,
             bytes_text(plan.output_bytes()),
             bits_per_weight(plan.output_bytes(), summary.num_parameters));
  for (const auto& [dtype, share] : shares) {
    fmt::print("    {:<8}{:>6} tensors{:>10} weights{:>12}\n", info(dtype).name, share.num_tensors,
               count_text(share.num_weights), bytes_text(share.bytes));
  }
  if (num_requantised > 0) {
    fmt::print(
        "  note: {} tensors of the input are quantised already, and what that cost adds up; "
        "take the F16 or BF16 file if there is one\n",
        num_requantised);
  }
}

void print_importance(const quantise::Plan& plan) {
  size_t num_without = 0;
  for (const quantise::TensorPlan& tensor : plan.tensors)
    num_without += !tensor.is_copy() && tensor.importance.empty() ? 1 : 0;
  fmt::print("  importance of {} matrices from {}; {} that it does not tell of count alike\n",
             plan.importance->size(), plan.importance->name(), num_without);
}

Result<int> run() {
  LongWork work;
  ASSIGN_OR_RETURN(const quantise::Recipe* const recipe, chosen_recipe());
  if (!options.dry_run) RETURN_IF_ERROR(check_output(options.output, "quantize"));
  ASSIGN_OR_RETURN(const gguf::File input,
                   engine::open_model(options.input, {.with_tokenizer = true}));
  RETURN_IF_ERROR(check_not_input(input));
  std::optional<quantise::Importance> importance;
  if (!options.imatrix.empty()) {
    ASSIGN_OR_RETURN(importance, quantise::Importance::open(options.imatrix));
  }
  ASSIGN_OR_RETURN(const quantise::Plan plan,
                   quantise::make_plan(input, *recipe, importance ? &*importance : nullptr));
  print_plan(plan);
  if (importance) print_importance(plan);
  if (options.dry_run) return 0;

  ASSIGN_OR_RETURN(const std::vector<int> cpus, worker_cpus());
  ASSIGN_OR_RETURN(const auto pool, ThreadPool::create(cpus));
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(
      quantise::write(plan, options.output.path, *pool, [&work](uint64_t done, uint64_t total) {
        return work.advance("quantising", static_cast<double>(done), static_cast<double>(total));
      }));
  work.finish();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  fmt::print("{} written in {:.1f} s\n", options.output.path.string(), elapsed.count());
  return 0;
}

}  // namespace

extern const Command quantize_command;
const Command quantize_command = {
    .name = "quantize",
    .summary = "Write a model in fewer bits",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
