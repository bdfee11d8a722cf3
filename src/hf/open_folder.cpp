#include "hf/open_folder.h"

#include <fmt/format.h>
#include <sched.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "hf/folder_config.h"
#include "hf/folder_tokenizer.h"
#include "hf/rope.h"
#include "hf/tensor_list.h"
#include "hf/tensor_names.h"
#include "hf/tokenizer_metadata.h"
#include "safetensors/folder.h"

namespace evener::hf {
namespace {

// Below so many values a pool of threads costs more than it saves.
constexpr uint64_t kValuesForThreads = uint64_t{1} << 18;

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// Owns what the tensors of a folder are made of.
class FolderMaker final : public gguf::TensorMaker {
 public:
  FolderMaker(std::unique_ptr<safetensors::Folder> folder, TensorNames names)
      : folder_(std::move(folder)), names_(std::move(names)) {}

  const safetensors::Folder& folder() const { return *folder_; }
  const TensorNames& names() const { return names_; }
  void set_recipes(const std::vector<gguf::Tensor>& tensors, std::vector<Recipe> recipes) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      recipes_.emplace(tensors[i].name, std::move(recipes[i]));
    }
  }
  std::span<const std::byte> keep(std::vector<float> divisors) {
    divisors_ = std::move(divisors);
    return std::as_bytes(std::span(divisors_));
  }

  Status make(const gguf::Tensor& tensor, std::vector<std::byte>& room) const override;
  std::string label(std::string_view name) const override;

 private:
  // Started when a tensor is large enough for it.
  Result<ThreadPool*> pool_for(const Recipe& recipe) const;

  std::unique_ptr<safetensors::Folder> folder_;
  TensorNames names_;
  std::unordered_map<std::string, Recipe> recipes_;  // by our name
  std::vector<float> divisors_;                      // of the rotary, if the family has some
  mutable std::unique_ptr<ThreadPool> pool_;
};

Result<ThreadPool*> FolderMaker::pool_for(const Recipe& recipe) const {
  const uint64_t num_values = recipe.ingredients.size() * recipe.rows * recipe.columns;
  if (num_values < kValuesForThreads) return nullptr;
  if (pool_ == nullptr) {
    ASSIGN_OR_RETURN(pool_, ThreadPool::create(usable_cpus()));
  }
  return pool_.get();
}

Status FolderMaker::make(const gguf::Tensor& tensor, std::vector<std::byte>& room) const {
  const auto found = recipes_.find(tensor.name);
  EVENER_ASSERT(found != recipes_.end());
  const Recipe& recipe = found->second;
  ASSIGN_OR_RETURN(ThreadPool * pool, pool_for(recipe));
  room.resize(recipe.size_bytes());
  return cook(recipe, *folder_, pool, room);
}

std::string FolderMaker::label(std::string_view name) const {
  const auto theirs = names_.theirs_of(name);
  if (!theirs) return fmt::format("'{}'", printable(name, 80));
  return fmt::format("'{}' ({})", printable(*theirs, 120), name);
}

// Where the language model lies in a folder that may also have eyes.
Result<std::string> root_of(const safetensors::Folder& folder) {
  for (const char* const root : {"model.", "model.language_model.", "language_model.model."}) {
    if (folder.find(fmt::format("{}embed_tokens.weight", root)) != nullptr) return root;
  }
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = folder.name(),
               .why = "has no tensor 'model.embed_tokens.weight'",
               .remedy = {}};
}

Status check_vocabulary(const safetensors::Folder& folder, const std::string& root,
                        const FolderConfig& config) {
  const safetensors::Tensor* embedding = folder.find(fmt::format("{}embed_tokens.weight", root));
  const uint64_t rows = embedding->shape.empty() ? 1 : embedding->shape[0];
  if (rows == config.sizes.vocab_size) return {};
  return folder.tensor_error(*embedding, fmt::format("has {} rows, config.json's vocab_size is {}",
                                                     rows, config.sizes.vocab_size));
}

// A model that does not share its head must have one.
Status check_head(const safetensors::Folder& folder, const FolderConfig& config) {
  if (config.is_tied.value_or(true) || folder.find("lm_head.weight") != nullptr ||
      folder.find("lm_head.qweight") != nullptr) {
    return {};
  }
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = fmt::format("{}, tensor 'lm_head.weight'", folder.name()),
               .why = "is missing, and config.json says that the head is not the embedding",
               .remedy = {}};
}

// One layer that drafts is known; folders keep its tensors behind "mtp.".
uint64_t count_mtp_layers(const safetensors::Folder& folder) {
  const bool has_one = folder.find("mtp.layers.0.input_layernorm.weight") != nullptr;
  const bool has_more = folder.find("mtp.layers.1.input_layernorm.weight") != nullptr;
  if (has_more) {
    log::warning("{}: has more than one layer to draft tokens; they are left out", folder.name());
  }
  return has_one && !has_more ? 1 : 0;
}

// The divisors of llama3's rotary, which GGUF has as a tensor.
Status add_divisors(const FolderConfig& config, FolderMaker& maker, TensorList& list) {
  ASSIGN_OR_RETURN(std::vector<float> divisors, rope_divisors(config.model, config.sizes));
  if (divisors.empty()) return {};
  gguf::Tensor tensor;
  tensor.name = "rope_freqs.weight";
  tensor.shape = {divisors.size()};
  tensor.bytes = maker.keep(std::move(divisors));
  list.tensors.push_back(std::move(tensor));
  return {};
}

std::vector<std::string> names_of(const safetensors::Folder& folder) {
  std::vector<std::string> names;
  for (const MappedFile& file : folder.mappings()) names.push_back(file.path().string());
  return names;
}

// The folder's own name, also of "folder/" and ".".
std::string name_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, ignored);
  return whole.filename().string();
}

}  // namespace

Result<gguf::File> open_folder(const std::filesystem::path& path, const FolderOptions& options) {
  ASSIGN_OR_RETURN(FolderConfig config, read_folder_config(path));
  ASSIGN_OR_RETURN(auto opened, safetensors::Folder::open(path));
  auto folder = std::make_unique<safetensors::Folder>(std::move(opened));
  ASSIGN_OR_RETURN(std::string root, root_of(*folder));
  RETURN_IF_ERROR(check_vocabulary(*folder, root, config));
  RETURN_IF_ERROR(check_head(*folder, config));
  config.sizes.num_mtp_layers = count_mtp_layers(*folder);

  TensorNames names(*config.family, config.sizes, std::move(root));
  auto maker = std::make_unique<FolderMaker>(std::move(folder), std::move(names));
  ASSIGN_OR_RETURN(TensorList list, list_tensors(maker->folder(), config, maker->names()));
  maker->set_recipes(list.tensors, std::move(list.recipes));
  RETURN_IF_ERROR(add_divisors(config, *maker, list));

  gguf::Header header;
  RETURN_IF_ERROR(write_metadata(config, header));
  header.set("general.name", name_of(path));
  if (options.with_tokenizer) {
    RETURN_IF_ERROR(add_tokenizer_metadata(path, header));
  } else {
    ASSIGN_OR_RETURN(const std::string chat_template, read_chat_template(path));
    if (!chat_template.empty()) header.set("tokenizer.chat_template", chat_template);
  }
  gguf::Assembly assembly{.name = path.string(),
                          .files = names_of(maker->folder()),
                          .size_bytes = maker->folder().size_bytes(),
                          .tensors = std::move(list.tensors),
                          .maker = nullptr};
  assembly.maker = std::move(maker);
  return gguf::File::assemble(header, std::move(assembly));
}

}  // namespace evener::hf
