#include "quantise/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "gguf/header.h"
#include "gguf/writer.h"
#include "quant/format.h"

namespace evener::quantise {
namespace {

// Weights between two looks at the clock and at Ctrl-C: a second or two of the slowest encoders.
constexpr size_t kWeightsPerPiece = size_t{1} << 21;
constexpr float kLargestHalf = 65504;
constexpr uint32_t kQuantisationVersion = 2;  // of the block layouts; the only one there is

uint64_t bytes_of(uint64_t num_weights, DType dtype) {
  return num_weights / info(dtype).block_size * info(dtype).block_bytes;
}

uint64_t num_experts(const gguf::Tensor& tensor) {
  return tensor.shape.size() < 3 ? 1 : tensor.num_elements() / tensor.shape[0] / tensor.shape[1];
}

Error bad_importance(const Importance& importance, std::string where, std::string why) {
  return {.code = Code::invalid_argument,
          .doing = "quantise",
          .where = importance.name() + where,
          .why = std::move(why),
          .remedy = "use the importance matrix of this very model"};
}

Result<TensorPlan> plan_tensor(const gguf::File& input, const gguf::Tensor& tensor, DType dtype,
                               const Importance* importance) {
  if (dtype != tensor.dtype && quant::find_format(tensor.dtype) == nullptr) {
    return input.tensor_error(tensor,
                              fmt::format("type {} cannot be decoded", info(tensor.dtype).name));
  }
  TensorPlan plan{.tensor = &tensor, .dtype = dtype, .importance = {}};
  if (importance == nullptr) return plan;
  plan.importance = importance->find(tensor.name);
  const uint64_t expected = tensor.shape[0] * num_experts(tensor);
  if (!plan.importance.empty() && plan.importance.size() != expected) {
    return bad_importance(
        *importance, ", '" + tensor.name + "'",
        fmt::format("has {} values, the tensor's shape {} asks for {}", plan.importance.size(),
                    gguf::shape_text(tensor.shape), expected));
  }
  return plan;
}

gguf::Header make_header(const Plan& plan) {
  gguf::Header header;
  for (const auto& [key, value] : plan.input->metadata()) {
    // The writer has its own alignment, and joins split files.
    if (key == "general.alignment" || key.starts_with("split.")) continue;
    header.set(key, value);
  }
  header.set("general.file_type", uint32_t(plan.recipe->file_type));
  header.set("general.quantization_version", kQuantisationVersion);
  if (plan.importance != nullptr) {
    const std::filesystem::path file = plan.importance->name();
    header.set("quantize.imatrix.file", file.filename().string());
    if (!plan.importance->dataset().empty())
      header.set("quantize.imatrix.dataset", plan.importance->dataset());
    header.set("quantize.imatrix.entries_count", uint32_t(plan.importance->size()));
    if (plan.importance->num_chunks() > 0)
      header.set("quantize.imatrix.chunks_count", plan.importance->num_chunks());
  }
  for (const TensorPlan& tensor : plan.tensors)
    header.add_tensor(tensor.tensor->name, tensor.dtype, tensor.tensor->shape);
  return header;
}

// Rows of one tensor from its own type to another.
class RowEncoder {
 public:
  RowEncoder(const TensorPlan& plan, std::span<const std::byte> source, size_t num_threads)
      : plan_(plan),
        source_(source),
        from_(*quant::find_format(plan.tensor->dtype)),
        to_(*quant::find_format(plan.dtype)),
        num_inputs_(plan.tensor->shape[0]),
        num_rows_(plan.tensor->num_elements() / num_inputs_),
        rows_per_expert_(num_rows_ / num_experts(*plan.tensor)),
        weights_(num_threads, std::vector<float>(num_inputs_)) {}

  size_t num_rows() const { return num_rows_; }
  size_t num_inputs() const { return num_inputs_; }
  size_t row_bytes() const { return bytes_of(num_inputs_, plan_.dtype); }

  // Row `row` to `blocks`, in the room of a thread. False if a weight cannot be encoded.
  bool encode(size_t row, size_t thread, std::span<std::byte> blocks) {
    const size_t source_bytes = bytes_of(num_inputs_, plan_.tensor->dtype);
    std::vector<float>& weights = weights_[thread];
    from_.decode(source_.subspan(row * source_bytes, source_bytes), weights.data());
    const float largest =
        plan_.dtype == DType::F16 ? kLargestHalf : std::numeric_limits<float>::max();
    const bool fits =
        std::ranges::all_of(weights, [&](float weight) { return std::abs(weight) <= largest; });
    if (fits) to_.encode(weights, importance_of(row), blocks);
    return fits;
  }

 private:
  std::span<const float> importance_of(size_t row) const {
    if (plan_.importance.empty()) return {};
    return plan_.importance.subspan(row / rows_per_expert_ * num_inputs_, num_inputs_);
  }

  const TensorPlan& plan_;
  std::span<const std::byte> source_;  // the whole tensor
  const quant::Format& from_;
  const quant::Format& to_;
  size_t num_inputs_;
  size_t num_rows_;
  size_t rows_per_expert_;
  std::vector<std::vector<float>> weights_;
};

// Writes tensor after tensor, in pieces, and says how far it is.
class Work {
 public:
  Work(const Plan& plan, gguf::Writer writer, ThreadPool& pool, const Progress& progress)
      : plan_(plan), writer_(std::move(writer)), pool_(pool), progress_(progress) {
    for (const TensorPlan& tensor : plan.tensors) total_ += tensor.tensor->num_elements();
  }

  Status run() {
    for (const TensorPlan& tensor : plan_.tensors)
      RETURN_IF_ERROR(tensor.is_copy() ? copy(tensor) : encode(tensor));
    return writer_.finish();
  }

 private:
  Status copy(const TensorPlan& tensor) {
    ASSIGN_OR_RETURN(const auto bytes, plan_.input->read(*tensor.tensor, room_));
    RETURN_IF_ERROR(writer_.write(bytes));
    return advance(tensor.tensor->num_elements());
  }

  Status encode(const TensorPlan& tensor) {
    ASSIGN_OR_RETURN(const auto bytes, plan_.input->read(*tensor.tensor, room_));
    RowEncoder encoder(tensor, bytes, pool_.num_threads());
    const size_t rows_per_piece = std::max<size_t>(1, kWeightsPerPiece / encoder.num_inputs());
    for (size_t row = 0; row < encoder.num_rows(); row += rows_per_piece) {
      const size_t count = std::min(rows_per_piece, encoder.num_rows() - row);
      RETURN_IF_ERROR(encode_piece(tensor, encoder, row, count));
      RETURN_IF_ERROR(writer_.write(piece_));
      RETURN_IF_ERROR(advance(count * encoder.num_inputs()));
    }
    return {};
  }

  Status encode_piece(const TensorPlan& tensor, RowEncoder& encoder, size_t first, size_t count) {
    const size_t row_bytes = encoder.row_bytes();
    piece_.resize(count * row_bytes);
    std::atomic<size_t> bad_row = encoder.num_rows();
    pool_.parallel_for(count, 1, [&](size_t begin, size_t end, size_t thread) {
      for (size_t i = begin; i < end; ++i) {
        const auto blocks = std::span(piece_).subspan(i * row_bytes, row_bytes);
        if (!encoder.encode(first + i, thread, blocks)) bad_row = first + i;
      }
    });
    if (bad_row == encoder.num_rows()) return {};
    const bool is_half = tensor.dtype == DType::F16;
    return plan_.input->tensor_error(
        *tensor.tensor,
        fmt::format("row {} holds a weight that is no finite number{}", bad_row.load(),
                    is_half ? ", or one that F16 cannot hold" : ""),
        is_half ? "choose BF16, which holds every size" : "");
  }

  Status advance(uint64_t num_weights) {
    done_ += num_weights;
    if (!progress_ || progress_(done_, total_)) return {};
    return Error{.code = Code::cancelled,
                 .doing = "quantise",
                 .where = plan_.input->name(),
                 .why = "interrupted; nothing was written",
                 .remedy = {}};
  }

  const Plan& plan_;
  gguf::Writer writer_;
  ThreadPool& pool_;
  const Progress& progress_;
  std::vector<std::byte> room_;   // of a tensor that no file holds as it is
  std::vector<std::byte> piece_;  // of the output
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

bool TensorPlan::is_copy() const { return dtype == tensor->dtype; }

uint64_t TensorPlan::output_bytes() const { return bytes_of(tensor->num_elements(), dtype); }

uint64_t Plan::output_bytes() const {
  return std::accumulate(
      tensors.begin(), tensors.end(), uint64_t{0},
      [](uint64_t sum, const TensorPlan& tensor) { return sum + tensor.output_bytes(); });
}

Result<Plan> make_plan(const gguf::File& input, const Recipe& recipe,
                       const Importance* importance) {
  ModelShape shape = shape_of(input);
  shape.is_weighted = importance != nullptr;
  Plan plan{.input = &input, .recipe = &recipe, .importance = importance, .tensors = {}};
  bool any_known = false;
  for (const gguf::Tensor& tensor : input.tensors()) {
    const DType dtype = choose_type(recipe, tensor, shape).value_or(tensor.dtype);
    ASSIGN_OR_RETURN(const TensorPlan tensor_plan, plan_tensor(input, tensor, dtype, importance));
    any_known = any_known || !tensor_plan.importance.empty();
    plan.tensors.push_back(tensor_plan);
  }
  if (importance != nullptr && !any_known) {
    return bad_importance(*importance, "", "knows none of the tensors of " + input.name());
  }
  return plan;
}

Status write(const Plan& plan, const std::filesystem::path& path, ThreadPool& pool,
             const Progress& progress) {
  ASSIGN_OR_RETURN(gguf::Writer writer, gguf::Writer::create(path, make_header(plan)));
  return Work(plan, std::move(writer), pool, progress).run();
}

}  // namespace evener::quantise
