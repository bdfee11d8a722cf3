#include "model/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "gguf/layer_name.h"
#include "model/families.h"
#include "model/tensor_slice.h"
#include "quant/format.h"

namespace evener::model {
namespace {

constexpr size_t kProblemsShown = 12;

const gguf::Tensor* find(const gguf::File& file, const TensorSpec& spec) {
  const gguf::Tensor* tensor = file.find_tensor(spec.name);
  if (tensor == nullptr && !spec.substitute.empty()) tensor = file.find_tensor(spec.substitute);
  return tensor;
}

// Files write the innermost size first, we write it last; sizes of 1 at the outer end say nothing.
bool same_shape(const gguf::Tensor& tensor, const std::vector<size_t>& shape) {
  std::vector<uint64_t> stored(tensor.shape.rbegin(), tensor.shape.rend());
  while (stored.size() > shape.size() && stored.front() == 1) stored.erase(stored.begin());
  while (stored.size() < shape.size()) stored.insert(stored.begin(), 1);
  return std::ranges::equal(stored, shape);
}

std::string file_shape_text(const std::vector<size_t>& shape) {
  const std::vector<uint64_t> reversed(shape.rbegin(), shape.rend());
  return gguf::shape_text(reversed);
}

// Compares the family's list with the file's and collects all that disagrees.
class Checker final : public TensorVisitor {
 public:
  explicit Checker(const gguf::File& file) : file_(file) {}

  void matrix(Matrix&, const TensorSpec& spec) override { check(spec); }
  void vector(Vector&, const TensorSpec& spec) override { check(spec); }

  Result<void> finish(const Config& config);

 private:
  void check(const TensorSpec& spec);
  bool is_known(const gguf::Tensor& tensor, const Config& config) const;

  const gguf::File& file_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::string> problems_;
};

void Checker::check(const TensorSpec& spec) {
  const gguf::Tensor* tensor = find(file_, spec);
  if (tensor == nullptr) {
    if (spec.presence == Presence::required)
      problems_.push_back(file_.label(spec.name) + " is missing");
    return;
  }
  used_.insert(tensor->name);
  if (!same_shape(*tensor, spec.shape)) {
    problems_.push_back(file_.label(tensor->name) + " has shape " +
                        gguf::shape_text(tensor->shape) + ", the metadata ask for " +
                        file_shape_text(spec.shape));
  }
  if (quant::find_format(tensor->dtype) == nullptr) {
    problems_.push_back(file_.label(tensor->name) + " has type " +
                        std::string(info(tensor->dtype).name) +
                        ", which Evener cannot compute with");
  }
}

bool Checker::is_known(const gguf::Tensor& tensor, const Config& config) const {
  if (used_.contains(tensor.name) || tensor.name == "rope_freqs.weight") return true;
  const auto place = gguf::split_layer_name(tensor.name);
  return place && place->layer >= config.num_layers &&
         place->layer < config.num_layers + config.num_mtp_layers;
}

Result<void> Checker::finish(const Config& config) {
  for (const gguf::Tensor& tensor : file_.tensors()) {
    if (!is_known(tensor, config))
      problems_.push_back(file_.label(tensor.name) + " is unknown in " + config.family + " models");
  }
  if (problems_.empty()) return {};
  std::string why;
  for (size_t i = 0; i < std::min(problems_.size(), kProblemsShown); ++i)
    why += (i == 0 ? "" : "; ") + problems_[i];
  if (problems_.size() > kProblemsShown)
    why += "; and " + std::to_string(problems_.size() - kProblemsShown) + " more";
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = file_.name(),
               .why = "tensors do not fit: " + why,
               .remedy = {}};
}

// Embeddings are read where they lie, if they lie there as they are.
bool stays_in_file(const TensorSpec& spec, const gguf::Tensor& tensor) {
  return spec.use == device::WeightUse::embedding && !tensor.bytes.empty();
}

class Summer final : public TensorVisitor {
 public:
  explicit Summer(const gguf::File& file) : file_(file) {}

  void matrix(Matrix&, const TensorSpec& spec) override;
  void vector(Vector&, const TensorSpec& spec) override;
  size_t bytes() const { return bytes_; }
  size_t largest_copy_bytes() const { return largest_copy_bytes_; }

  // Matrices that are F16 because the part cuts their blocks, and what they take.
  size_t num_decoded() const { return num_decoded_; }
  size_t decoded_bytes() const { return decoded_bytes_; }

 private:
  const gguf::File& file_;
  size_t bytes_ = 0;
  size_t largest_copy_bytes_ = 0;
  size_t num_decoded_ = 0;
  size_t decoded_bytes_ = 0;
};

void Summer::matrix(Matrix&, const TensorSpec& spec) {
  const gguf::Tensor* tensor = find(file_, spec);
  if (tensor == nullptr || stays_in_file(spec, *tensor)) return;
  const TensorSlice slice(spec, *tensor);
  const size_t bytes = slice.size_bytes();
  bytes_ += bytes;
  const size_t made = tensor->bytes.empty() ? tensor->size_bytes() : 0;
  largest_copy_bytes_ = std::max(largest_copy_bytes_, made + (slice.is_piece() ? 0 : bytes));
  if (!slice.cuts_blocks()) return;
  ++num_decoded_;
  decoded_bytes_ += bytes;
}

void Summer::vector(Vector&, const TensorSpec& spec) {
  const gguf::Tensor* tensor = find(file_, spec);
  if (tensor != nullptr) bytes_ += num_values(spec) * sizeof(float);
}

// Fills the slots. The first error ends the work; the remaining tensors are passed over.
class Uploader final : public TensorVisitor {
 public:
  Uploader(const gguf::File& file, device::Device& device, const LoadProgress& progress,
           size_t total)
      : file_(file), device_(device), progress_(progress), total_(total) {}

  void matrix(Matrix& slot, const TensorSpec& spec) override {
    run(spec, [&](const gguf::Tensor& tensor) { return upload(slot, spec, tensor); });
  }
  void vector(Vector& slot, const TensorSpec& spec) override {
    run(spec, [&](const gguf::Tensor& tensor) { return upload(slot, spec, tensor); });
  }
  Result<void> finish() { return std::move(status_); }

 private:
  template <class Upload>
  void run(const TensorSpec& spec, Upload upload);
  // Both return how many bytes were loaded.
  Result<size_t> upload(Matrix& slot, const TensorSpec& spec, const gguf::Tensor& tensor);
  Result<size_t> upload(Vector& slot, const TensorSpec& spec, const gguf::Tensor& tensor);

  const gguf::File& file_;
  device::Device& device_;
  const LoadProgress& progress_;
  size_t total_;
  size_t done_ = 0;
  Result<void> status_;
};

template <class Upload>
void Uploader::run(const TensorSpec& spec, Upload upload) {
  if (!status_) return;
  const gguf::Tensor* tensor = find(file_, spec);
  if (tensor == nullptr) return;
  const Result<size_t> loaded = upload(*tensor);
  if (!loaded) status_ = loaded.error();
  if (!loaded || stays_in_file(spec, *tensor)) return;
  done_ += *loaded;
  if (progress_ && !progress_(done_, total_)) {
    status_ = Error{.code = Code::cancelled,
                    .doing = "load model",
                    .where = file_.name(),
                    .why = "interrupted",
                    .remedy = {}};
  }
}

Result<size_t> Uploader::upload(Matrix& slot, const TensorSpec& spec, const gguf::Tensor& tensor) {
  const TensorSlice slice(spec, tensor);
  std::vector<std::byte> made;
  ASSIGN_OR_RETURN(const std::span<const std::byte> whole, file_.read(tensor, made));
  std::vector<std::byte> copied;
  std::span<const std::byte> bytes = slice.of(whole, copied);
  if (spec.use == device::WeightUse::embedding && !made.empty()) {
    if (bytes.size() < made.size()) {
      slot.made.assign(bytes.begin(), bytes.end());
    } else {
      slot.made = std::move(made);
    }
    bytes = slot.made;
  }
  const device::WeightSource source{.name = spec.name,
                                    .dtype = slice.dtype(),
                                    .outputs = slice.outputs(),
                                    .inputs = slice.inputs(),
                                    .bytes = bytes,
                                    .num_experts = slice.num_experts()};
  ASSIGN_OR_RETURN(slot.weight, device_.upload(source, spec.use));
  return slice.size_bytes();
}

Result<size_t> Uploader::upload(Vector& slot, const TensorSpec& spec, const gguf::Tensor& tensor) {
  std::vector<std::byte> room;
  ASSIGN_OR_RETURN(const auto bytes, file_.read(tensor, room));
  const std::vector<float> values = slice_values(spec, tensor, bytes);
  const size_t size_bytes = values.size() * sizeof(float);
  ASSIGN_OR_RETURN(slot.buffer, device_.allocate(size_bytes));
  const size_t cols = spec.shape.size() == 1 ? values.size() : spec.shape.back();
  slot.tensor = {.buffer = slot.buffer.get(),
                 .offset = 0,
                 .rows = values.size() / cols,
                 .cols = cols,
                 .stride = cols};
  device_.write(values, slot.tensor);
  return size_bytes;
}

// "layers 3 to 5, shard 1 of 2"
std::string part_text(const Part& part) {
  return fmt::format("layers {} to {}, shard {} of {}", part.layers.begin, part.layers.end() - 1,
                     part.shard, part.num_shards);
}

}  // namespace

Result<std::unique_ptr<Model>> describe_model(const gguf::File& file, const Part& part) {
  ASSIGN_OR_RETURN(const Config config, read_config(file));
  const Family& family = *find_family(config.family);
  const std::unique_ptr<Model> whole = family.create(config, whole_part(config));
  Checker checker(file);
  whole->visit(checker);
  RETURN_IF_ERROR(checker.finish(config));
  return family.create(config, part);
}

Result<std::unique_ptr<Model>> describe_model(const gguf::File& file) {
  ASSIGN_OR_RETURN(const Config config, read_config(file));
  return describe_model(file, whole_part(config));
}

size_t weight_bytes(const gguf::File& file, Model& model) {
  Summer summer(file);
  model.visit(summer);
  return summer.bytes();
}

size_t loading_bytes(const gguf::File& file, Model& model) {
  Summer summer(file);
  model.visit(summer);
  return summer.largest_copy_bytes();
}

Result<std::unique_ptr<Model>> load_model(const gguf::File& file, const Part& part,
                                          device::Device& device, const LoadProgress& progress) {
  ASSIGN_OR_RETURN(std::unique_ptr<Model> model, describe_model(file, part));
  Summer summer(file);
  model->visit(summer);
  if (summer.num_decoded() > 0) {
    log::info("{}: {}: cut inside the blocks of {} matrices, which take {} as F16", file.name(),
              part_text(part), summer.num_decoded(), bytes_text(summer.decoded_bytes()));
  }
  Uploader uploader(file, device, progress, summer.bytes());
  model->visit(uploader);
  RETURN_IF_ERROR(uploader.finish());
  return model;
}

Result<std::unique_ptr<Model>> load_model(const gguf::File& file, device::Device& device,
                                          const LoadProgress& progress) {
  ASSIGN_OR_RETURN(const Config config, read_config(file));
  return load_model(file, whole_part(config), device, progress);
}

}  // namespace evener::model
