// Weights, and the maps that they are.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "device/vulkan/card_device.h"
#include "device/vulkan/kernel_table.h"
#include "quant/format.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kUnit = 32;       // inputs, as kernels/linear.glsl says
constexpr size_t kUnitBytes = 48;  // of inputs in 8 bits
constexpr size_t kVectorThreads = 128;
constexpr size_t kVectorOutputs = 4;
constexpr size_t kVectorLanes = 32;
constexpr size_t kTileOutputs = 64;
constexpr size_t kIndexMax = size_t{1} << 31;  // words that kernels number

struct LinearArgs {
  uint64_t body, heads, books, x, bias, y, tiles, places;
  uint32_t rows, outputs, inputs, x_stride, y_stride, choices_a_row;
};

struct QuantizeArgs {
  uint64_t x, y;
  uint32_t x_stride, rows, cols;
};

Error cannot_upload(const WeightSource& source, Code code, std::string why) {
  return Error{.code = code,
               .doing = "load weight",
               .where = fmt::format("tensor '{}'", source.name),
               .why = std::move(why),
               .remedy = {}};
}

// Outputs are spread over x and z.
std::array<uint32_t, 3> output_groups(size_t outputs, size_t of_group, size_t y) {
  constexpr uint32_t kGroupsMax = 65'535;
  const uint32_t all = groups_of(outputs, of_group);
  const uint32_t x = std::min(all, kGroupsMax);
  return {x, uint32_t(y), groups_of(all, x)};
}

// "linear_vec/Q4_K", as long as the program lives.
std::string_view kernel_name(std::string_view kind, DType dtype) {
  const std::string name = fmt::format("{}/{}", kind, evener::info(dtype).name);
  const std::span all(kKernels, kNumKernels);
  const auto found = std::ranges::find(all, name, &Kernel::name);
  EVENER_ASSERT(found != all.end());
  return found->name;
}

// The least of 1, 2, 4, 8 that holds the rows of a tile.
uint32_t vector_rows(size_t rows) {
  uint32_t fits = 1;
  while (fits < rows) fits *= 2;
  return fits;
}

}  // namespace

Result<std::unique_ptr<Weight>> CardDevice::upload(const WeightSource& source, WeightUse use) {
  const WeightLayout* const layout = find_weight_layout(source.dtype);
  if (layout == nullptr) {
    return cannot_upload(
        source, Code::unsupported,
        fmt::format("no kernel multiplies with type {}", evener::info(source.dtype).name));
  }
  const DTypeInfo& type = evener::info(source.dtype);
  if (source.inputs % type.block_size != 0) {
    return cannot_upload(source, Code::corrupt,
                         fmt::format("{} inputs are no whole number of blocks of {}", source.inputs,
                                     type.block_size));
  }
  if (use == WeightUse::embedding) return std::make_unique<HostRowsWeight>(source);

  const size_t num_blocks =
      source.num_experts * source.outputs * layout->blocks_of_row(source.inputs);
  const size_t heads_at = (num_blocks * layout->body_bytes + 255) / 256 * 256;
  if (heads_at / sizeof(uint32_t) >= kIndexMax) {
    return cannot_upload(source, Code::limit_exceeded, "more than 8 GiB in one weight");
  }
  // Kernels read scales by the word.
  const size_t size = heads_at + (num_blocks * layout->head_bytes + 3) / 4 * 4;
  ASSIGN_OR_RETURN(Region region, pool_->allocate(size, "weights"));
  const size_t blocks_a_piece =
      Staging::kPieceBytes / (layout->body_bytes + layout->head_bytes) / 64 * 64;
  for (size_t first = 0; first < num_blocks; first += blocks_a_piece) {
    const size_t count = std::min(blocks_a_piece, num_blocks - first);
    ASSIGN_OR_RETURN(const SharedPiece piece, staging_->next(*steps_));
    const size_t body_bytes = count * layout->body_bytes;
    if (steps_->is_plan()) continue;
    pack_blocks(*layout, source.bytes, source.inputs, first, count,
                {.body = piece.host, .heads = piece.host + body_bytes});
    const Place from = {.buffer = piece.buffer, .offset = piece.offset, .address = piece.address};
    steps_->copy(from, place_in(region, first * layout->body_bytes), body_bytes, Work::copies);
    steps_->copy({.buffer = from.buffer,
                  .offset = from.offset + body_bytes,
                  .address = from.address + body_bytes},
                 place_in(region, heads_at + first * layout->head_bytes),
                 count * layout->head_bytes, Work::copies);
    staging_->send(*steps_);
  }
  RETURN_IF_ERROR(steps_->status());
  const VulkanWeight::Kernels kernels = {.vector = kernel_name("linear_vec", source.dtype),
                                         .matrix = kernel_name("linear_mat", source.dtype)};
  return std::make_unique<VulkanWeight>(source, *layout, kernels, std::move(region), heads_at);
}

CardDevice::Inputs CardDevice::quantize(const FloatRows& x, size_t sharing, Scratch& scratch,
                                        Work work) {
  const size_t units = groups_of(x.cols, kUnit);
  if (!reserve(scratch, x.num_rows * units * kUnitBytes)) return {};
  const QuantizeArgs args{.x = x.address,
                          .y = scratch.region.address(),
                          .x_stride = uint32_t(x.stride),
                          .rows = uint32_t(x.num_rows),
                          .cols = uint32_t(x.cols)};
  const Touched result{args.y, args.y + x.num_rows * units * kUnitBytes};
  const RowGroups groups = spread_rows(x.num_rows);
  call({.kernel = "quantize_rows", .constants = {0, uint32_t(sharing)}, .num_constants = 2},
       {groups_of(x.cols, 256), groups.y, groups.z}, args, {x.read}, {result}, work);
  return {.address = args.y, .stride = units, .read = result};
}

// Floats as they are, or codes with `sharing` of them to a scale.
CardDevice::Inputs CardDevice::inputs_for(const Tensor& x, size_t sharing, Work work) {
  if (sharing == 0) return {.address = address_of(x), .stride = x.stride, .read = touched(x)};
  return quantize(rows_of(x), sharing, sharing == 32 ? inputs_32_ : inputs_256_, work);
}

void CardDevice::multiply(const Weight& weight, const Inputs& inputs, const Tensor& bias,
                          const LinearRows& rows, Work work) {
  const auto& packed = static_cast<const VulkanWeight&>(weight);
  const bool is_grouped = rows.tiles != 0;
  const LinearArgs args{.body = packed.body(),
                        .heads = packed.heads(),
                        .books = codebooks_.address(),
                        .x = inputs.address,
                        .bias = bias.buffer == nullptr ? 0 : address_of(bias),
                        .y = rows.y,
                        .tiles = rows.tiles,
                        .places = rows.places,
                        .rows = uint32_t(rows.num_rows),
                        .outputs = uint32_t(weight.outputs()),
                        .inputs = uint32_t(weight.inputs()),
                        .x_stride = uint32_t(inputs.stride),
                        .y_stride = uint32_t(rows.y_stride),
                        .choices_a_row = uint32_t(rows.choices_a_row)};
  const size_t tile_rows = is_grouped ? rows.tile_rows : rows.num_rows;
  const Touched bias_read = bias.buffer == nullptr ? Touched{} : touched(bias);
  const std::initializer_list<Touched> reads = {inputs.read, touched(packed.region()), bias_read,
                                                rows.lists};
  // Of experts, as many as there are choices at most.
  const size_t matrices = is_grouped ? std::min(weight.num_experts(), rows.num_rows) : 1;
  const Cost cost{.bytes = weight.size_bytes() / weight.num_experts() * matrices +
                           (inputs.read.end - inputs.read.begin) +
                           (rows.written.end - rows.written.begin),
                  .operations = 2 * uint64_t(rows.num_rows) * weight.outputs() * weight.inputs()};
  if (tile_rows <= kVectorRowsMax) {
    const uint32_t rows_a_group = vector_rows(tile_rows);
    const size_t units = groups_of(weight.inputs(), kUnit);
    const auto turns = uint32_t(std::clamp<size_t>(groups_of(units, kVectorLanes), 1, 4));
    const size_t tiles = is_grouped ? rows.num_tiles : groups_of(rows.num_rows, rows_a_group);
    call({.kernel = packed.kernels().vector,
          .constants = {uint32_t(kVectorThreads), is_grouped, rows_a_group, turns},
          .num_constants = 4},
         output_groups(weight.outputs(), kVectorOutputs, tiles), args, reads, {rows.written}, work,
         cost);
    return;
  }
  const uint32_t rows_a_thread = tile_rows <= 32 ? 2 : 4;
  const size_t tiles = is_grouped ? rows.num_tiles : groups_of(rows.num_rows, 16 * rows_a_thread);
  call({.kernel = packed.kernels().matrix,
        .constants = {0, is_grouped, rows_a_thread},
        .num_constants = 3},
       output_groups(weight.outputs(), kTileOutputs, tiles), args, reads, {rows.written}, work,
       cost);
}

void CardDevice::linear(const Tensor& x, std::span<const LinearPart> parts) {
  for (const LinearPart& part : parts) {
    EVENER_ASSERT(part.weight->inputs() == x.cols);
    EVENER_ASSERT(part.y.rows == x.rows);
    EVENER_ASSERT(part.y.cols == part.weight->outputs());
  }
  if (x.rows == 0) return;
  steps_->begin();
  // Inputs in each of their forms once; 0, floats, costs nothing.
  Inputs of_32;
  Inputs of_256;
  for (const LinearPart& part : parts) {
    if (part.weight->outputs() == 0) continue;
    const size_t sharing = static_cast<const VulkanWeight*>(part.weight)->layout().sharing;
    Inputs& kept = sharing == 32 ? of_32 : of_256;
    if (sharing != 0 && kept.address == 0) kept = inputs_for(x, sharing, Work::dense);
    const Inputs inputs = sharing == 0 ? inputs_for(x, 0, Work::dense) : kept;
    if (!steps_->status()) return;
    multiply(*part.weight, inputs, part.bias,
             {.num_rows = x.rows,
              .y = address_of(part.y),
              .written = touched(part.y),
              .y_stride = part.y.stride},
             Work::dense);
  }
}

}  // namespace evener::device::vulkan
