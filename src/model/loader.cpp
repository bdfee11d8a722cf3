#include "model/loader.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/text.h"
#include "gguf/layer_name.h"
#include "model/families.h"
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

// Of the tensor as a whole, which may be more than the spec's own part of it.
const std::vector<size_t>& shape_in_file(const TensorSpec& spec) {
  return spec.joint ? spec.joint->shape : spec.shape;
}

size_t count_rows(const std::vector<size_t>& shape) {
  size_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

// Bytes of the tensor that are the spec's.
size_t bytes_of(const TensorSpec& spec, const gguf::Tensor& tensor) {
  if (!spec.joint) return tensor.size_bytes();
  return tensor.size_bytes() / count_rows(spec.joint->shape) * count_rows(spec.shape);
}

// The spec's rows of a tensor whose shape was checked.
std::vector<std::byte> gather_rows(const JointTensor& joint, std::span<const std::byte> tensor) {
  const size_t num_rows = count_rows(joint.shape);
  const size_t row_bytes = tensor.size() / num_rows;
  size_t wanted = 0;
  for (const RowRange& range : joint.rows) wanted += range.count;
  std::vector<std::byte> gathered;
  gathered.reserve(wanted * row_bytes);
  for (const RowRange& range : joint.rows) {
    EVENER_ASSERT(range.begin + range.count <= num_rows);
    const auto rows = tensor.subspan(range.begin * row_bytes, range.count * row_bytes);
    gathered.insert(gathered.end(), rows.begin(), rows.end());
  }
  return gathered;
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
  const std::vector<size_t>& shape = shape_in_file(spec);
  if (!same_shape(*tensor, shape)) {
    problems_.push_back(file_.label(tensor->name) + " has shape " +
                        gguf::shape_text(tensor->shape) + ", the metadata ask for " +
                        file_shape_text(shape));
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

  void matrix(Matrix&, const TensorSpec& spec) override { add(spec); }
  void vector(Vector&, const TensorSpec& spec) override { add(spec); }
  size_t bytes() const { return bytes_; }
  size_t largest_copy_bytes() const { return largest_copy_bytes_; }

 private:
  void add(const TensorSpec& spec) {
    const gguf::Tensor* tensor = find(file_, spec);
    if (tensor == nullptr || stays_in_file(spec, *tensor)) return;
    const size_t bytes = bytes_of(spec, *tensor);
    bytes_ += bytes;
    const size_t made = tensor->bytes.empty() ? tensor->size_bytes() : 0;
    largest_copy_bytes_ = std::max(largest_copy_bytes_, made + (spec.joint ? bytes : 0));
  }

  const gguf::File& file_;
  size_t bytes_ = 0;
  size_t largest_copy_bytes_ = 0;
};

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
  Result<void> upload(Matrix& slot, const TensorSpec& spec, const gguf::Tensor& tensor);
  Result<void> upload(Vector& slot, const TensorSpec& spec, const gguf::Tensor& tensor);

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
  status_ = upload(*tensor);
  if (!status_ || stays_in_file(spec, *tensor)) return;
  done_ += bytes_of(spec, *tensor);
  if (progress_ && !progress_(done_, total_)) {
    status_ = Error{.code = Code::cancelled,
                    .doing = "load model",
                    .where = file_.name(),
                    .why = "interrupted",
                    .remedy = {}};
  }
}

Result<void> Uploader::upload(Matrix& slot, const TensorSpec& spec, const gguf::Tensor& tensor) {
  const size_t rank = spec.shape.size();
  std::vector<std::byte> room;
  ASSIGN_OR_RETURN(std::span<const std::byte> bytes, file_.read(tensor, room));
  const std::vector<std::byte> gathered =
      spec.joint ? gather_rows(*spec.joint, bytes) : std::vector<std::byte>();
  if (spec.joint) bytes = gathered;
  const device::WeightSource source{.name = spec.name,
                                    .dtype = tensor.dtype,
                                    .outputs = spec.shape[rank - 2],
                                    .inputs = spec.shape[rank - 1],
                                    .bytes = bytes,
                                    .num_experts = rank == 3 ? spec.shape[0] : 1};
  ASSIGN_OR_RETURN(slot.weight, device_.upload(source, spec.use));
  if (spec.use == device::WeightUse::embedding) slot.made = std::move(room);
  return {};
}

Result<void> Uploader::upload(Vector& slot, const TensorSpec& spec, const gguf::Tensor& tensor) {
  std::vector<std::byte> room;
  ASSIGN_OR_RETURN(const auto bytes, file_.read(tensor, room));
  std::vector<float> values(tensor.num_elements());
  quant::find_format(tensor.dtype)->decode(bytes, values.data());
  ASSIGN_OR_RETURN(slot.buffer, device_.allocate(values.size() * sizeof(float)));
  const size_t cols = spec.shape.back();
  slot.tensor = {.buffer = slot.buffer.get(),
                 .offset = 0,
                 .rows = values.size() / cols,
                 .cols = cols,
                 .stride = cols};
  device_.write(values, slot.tensor);
  return {};
}

}  // namespace

Result<std::unique_ptr<Model>> describe_model(const gguf::File& file) {
  ASSIGN_OR_RETURN(const Config config, read_config(file));
  std::unique_ptr<Model> model = find_family(config.family)->create(config);
  Checker checker(file);
  model->visit(checker);
  RETURN_IF_ERROR(checker.finish(config));
  return model;
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

Result<std::unique_ptr<Model>> load_model(const gguf::File& file, device::Device& device,
                                          const LoadProgress& progress) {
  ASSIGN_OR_RETURN(std::unique_ptr<Model> model, describe_model(file));
  Uploader uploader(file, device, progress, weight_bytes(file, *model));
  model->visit(uploader);
  RETURN_IF_ERROR(uploader.finish());
  return model;
}

}  // namespace evener::model
