#include "hf/tensor_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace evener::hf {
namespace {

using safetensors::CodedMatrix;
using safetensors::Element;
using safetensors::Folder;

constexpr std::string_view kWeight = ".weight";
constexpr size_t kUnknownShown = 8;
constexpr size_t kDimsMax = 4;  // of GGUF

// Outermost first; codes are a matrix.
std::vector<uint64_t> shape_of(const Ingredient& ingredient) {
  if (ingredient.coded == nullptr) return ingredient.tensor->shape;
  return {ingredient.coded->outputs(), ingredient.coded->inputs()};
}

uint64_t stored_bytes_of(const Ingredient& ingredient) {
  if (ingredient.coded == nullptr) return ingredient.tensor->bytes.size();
  uint64_t sum = 0;
  for (const safetensors::Tensor* part : ingredient.coded->parts()) sum += part->bytes.size();
  return sum;
}

std::string_view stored_name_of(const Ingredient& ingredient,
                                const safetensors::QuantConfig& quant) {
  using Method = safetensors::QuantConfig::Method;
  if (ingredient.coded == nullptr) return safetensors::info(ingredient.tensor->element).name;
  if (quant.method == Method::fp8) return "FP8";
  if (quant.method == Method::awq) return "AWQ int4";
  return quant.bits == 8 ? "GPTQ int8" : "GPTQ int4";
}

class Lister {
 public:
  Lister(const Folder& folder, const FolderConfig& config)
      : folder_(folder), config_(config), is_used_(folder.tensors().size(), false) {}

  Status add(const NamedRule& named);
  Status finish() const;
  TensorList take() { return std::move(list_); }

 private:
  Result<Ingredient> find(const std::string& name);
  Result<std::vector<Ingredient>> find_all(const NamedRule& named);
  Status check_alike(const std::vector<Ingredient>& ingredients) const;
  Status check_plain(const Ingredient& ingredient) const;
  Result<gguf::Tensor> describe(const NamedRule& named, const Ingredient& first,
                                uint64_t num_ingredients) const;
  DType coded_dtype(Order order, const CodedMatrix& coded) const;
  Result<Recipe> recipe_of(const NamedRule& named, std::vector<Ingredient> ingredients,
                           const gguf::Tensor& tensor) const;
  void mark_used(const safetensors::Tensor& tensor) {
    is_used_[static_cast<size_t>(&tensor - folder_.tensors().data())] = true;
  }
  bool is_left_out(std::string_view name) const;

  const Folder& folder_;
  const FolderConfig& config_;
  std::vector<bool> is_used_;
  TensorList list_;
};

// Without a tensor if there is none of that name.
Result<Ingredient> Lister::find(const std::string& name) {
  Ingredient ingredient;
  if (name.ends_with(kWeight)) {
    const std::string_view stem = std::string_view(name).substr(0, name.size() - kWeight.size());
    ASSIGN_OR_RETURN(ingredient.coded, safetensors::open_coded(folder_, stem, config_.quant));
  }
  if (ingredient.coded != nullptr) {
    RETURN_IF_ERROR(ingredient.coded->check_values());
    for (const safetensors::Tensor* part : ingredient.coded->parts()) mark_used(*part);
    ingredient.tensor = ingredient.coded->parts().front();
    return ingredient;
  }
  ingredient.tensor = folder_.find(name);
  if (ingredient.tensor == nullptr) return ingredient;
  mark_used(*ingredient.tensor);
  RETURN_IF_ERROR(check_plain(ingredient));
  return ingredient;
}

Status Lister::check_plain(const Ingredient& ingredient) const {
  const safetensors::Tensor& tensor = *ingredient.tensor;
  const bool is_float = tensor.element == Element::F32 || tensor.element == Element::F16 ||
                        tensor.element == Element::BF16;
  if (!is_float) {
    return folder_.tensor_error(tensor,
                                fmt::format("has type {}, its role asks for F32, F16 or BF16",
                                            safetensors::info(tensor.element).name));
  }
  if (tensor.shape.empty() || tensor.num_elements() == 0) {
    return folder_.tensor_error(tensor,
                                fmt::format("has shape {}", safetensors::shape_text(tensor.shape)));
  }
  return {};
}

// One tensor, or one an expert; none if the first is not there.
Result<std::vector<Ingredient>> Lister::find_all(const NamedRule& named) {
  std::vector<Ingredient> found;
  const size_t star = named.theirs.find('*');
  const uint64_t count = star == std::string::npos ? 1 : config_.sizes.num_experts;
  for (uint64_t i = 0; i < count; ++i) {
    std::string name = named.theirs;
    if (star != std::string::npos) name.replace(star, 1, std::to_string(i));
    ASSIGN_OR_RETURN(Ingredient ingredient, find(name));
    if (ingredient.tensor != nullptr) {
      found.push_back(std::move(ingredient));
      continue;
    }
    if (found.empty()) break;
    return Error{.code = Code::corrupt,
                 .doing = "load model",
                 .where = fmt::format("{}, tensor '{}'", folder_.name(), name),
                 .why = fmt::format("is missing, config.json has {} experts", count),
                 .remedy = {}};
  }
  return found;
}

Status Lister::check_alike(const std::vector<Ingredient>& ingredients) const {
  const Ingredient& first = ingredients.front();
  for (const Ingredient& other : ingredients) {
    if (shape_of(other) != shape_of(first)) {
      return folder_.tensor_error(*other.tensor,
                                  fmt::format("has shape {}, that of expert 0 has {}",
                                              safetensors::shape_text(shape_of(other)),
                                              safetensors::shape_text(shape_of(first))));
    }
    const bool same_type = (other.coded == nullptr) == (first.coded == nullptr) &&
                           other.tensor->element == first.tensor->element;
    if (same_type) continue;
    return folder_.tensor_error(*other.tensor,
                                fmt::format("has type {}, that of expert 0 has {}",
                                            safetensors::info(other.tensor->element).name,
                                            safetensors::info(first.tensor->element).name));
  }
  return {};
}

// The block format that has a matrix' very codes, unless columns move that a block has together.
DType Lister::coded_dtype(Order order, const CodedMatrix& coded) const {
  const auto format = coded.block_format();
  if (!format) return DType::F16;
  const uint64_t num_heads = config_.sizes.num_value_heads;
  if (order != Order::columns_by_value_heads) return *format;
  const bool moves_blocks =
      num_heads > 0 && coded.inputs() / num_heads % evener::info(*format).block_size == 0;
  return moves_blocks ? *format : DType::F16;
}

Result<gguf::Tensor> Lister::describe(const NamedRule& named, const Ingredient& first,
                                      uint64_t num_ingredients) const {
  gguf::Tensor tensor;
  tensor.name = named.ours;
  tensor.file_index = first.tensor->file_index;
  const std::vector<uint64_t> stored = shape_of(first);
  tensor.shape.assign(stored.rbegin(), stored.rend());
  const bool is_small = named.rule->as_f32;
  if (is_small) std::erase(tensor.shape, uint64_t{1});
  if (tensor.shape.empty()) tensor.shape = {1};
  if (named.theirs.find('*') != std::string::npos) tensor.shape.push_back(num_ingredients);
  if (tensor.shape.size() > kDimsMax) {
    return folder_.tensor_error(*first.tensor,
                                fmt::format("has shape {}, which is more than {} dimensions",
                                            safetensors::shape_text(stored), kDimsMax));
  }
  if (is_small || tensor.shape.size() == 1) {
    tensor.dtype = DType::F32;
  } else if (first.coded != nullptr) {
    tensor.dtype = coded_dtype(named.rule->order, *first.coded);
  } else {
    tensor.dtype = *safetensors::info(first.tensor->element).dtype;
  }
  return tensor;
}

Result<Recipe> Lister::recipe_of(const NamedRule& named, std::vector<Ingredient> ingredients,
                                 const gguf::Tensor& tensor) const {
  Recipe recipe;
  recipe.change = named.rule->change;
  recipe.dtype = tensor.dtype;
  recipe.columns = tensor.shape.size() == 1 ? 1 : tensor.shape[0];
  recipe.rows = tensor.num_elements() / recipe.columns / ingredients.size();
  auto moves = moves_of(named.rule->order, config_.sizes, recipe.rows, recipe.columns);
  if (!moves) return folder_.tensor_error(*ingredients.front().tensor, moves.error().why);
  recipe.moves = *std::move(moves);
  recipe.ingredients = std::move(ingredients);
  return recipe;
}

Status Lister::add(const NamedRule& named) {
  ASSIGN_OR_RETURN(std::vector<Ingredient> ingredients, find_all(named));
  if (ingredients.empty()) return {};
  RETURN_IF_ERROR(check_alike(ingredients));
  ASSIGN_OR_RETURN(gguf::Tensor tensor, describe(named, ingredients.front(), ingredients.size()));
  ASSIGN_OR_RETURN(Recipe recipe, recipe_of(named, std::move(ingredients), tensor));
  if (recipe.is_plain_copy()) {
    tensor.bytes = recipe.ingredients.front().tensor->bytes;
  } else {
    tensor.stored_as = stored_name_of(recipe.ingredients.front(), config_.quant);
    for (const Ingredient& part : recipe.ingredients) tensor.stored_bytes += stored_bytes_of(part);
  }
  list_.tensors.push_back(std::move(tensor));
  list_.recipes.push_back(std::move(recipe));
  return {};
}

// What a language model does without: eyes, tables that follow from config.json, a head that is not
// its own, layers that draft in a way that is not known here.
bool Lister::is_left_out(std::string_view name) const {
  if (name.starts_with("model.visual.") || name.starts_with("visual.")) return true;
  if (name.ends_with(".inv_freq")) return true;
  if (name == "lm_head.weight") return config_.is_tied.value_or(false);
  return name.starts_with("mtp.") && config_.sizes.num_mtp_layers == 0;
}

Status Lister::finish() const {
  std::string unknown;
  size_t num_unknown = 0;
  for (size_t i = 0; i < is_used_.size(); ++i) {
    const std::string& name = folder_.tensors()[i].name;
    if (is_used_[i] || is_left_out(name)) continue;
    if (++num_unknown > kUnknownShown) continue;
    unknown += fmt::format("{}'{}'", unknown.empty() ? "" : ", ", printable(name, 120));
  }
  if (num_unknown == 0) return {};
  if (num_unknown > kUnknownShown) {
    unknown += fmt::format(" and {} more", num_unknown - kUnknownShown);
  }
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = folder_.name(),
               .why = fmt::format("has tensors that {} models of {} layers do not have: {}",
                                  config_.family->name, config_.sizes.num_layers, unknown),
               .remedy = {}};
}

}  // namespace

Result<TensorList> list_tensors(const Folder& folder, const FolderConfig& config,
                                const TensorNames& names) {
  Lister lister(folder, config);
  for (const NamedRule& named : names.all()) {
    if (named.ours == "output.weight" && config.is_tied.value_or(false)) continue;
    RETURN_IF_ERROR(lister.add(named));
  }
  RETURN_IF_ERROR(lister.finish());
  return lister.take();
}

}  // namespace evener::hf
