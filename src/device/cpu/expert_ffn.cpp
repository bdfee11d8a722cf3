#include "device/cpu/expert_ffn.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"

namespace evener::device::cpu {
namespace {

// Indices of about `cost` simple float operations each that are worth handing to a thread.
size_t grain_for(size_t cost) {
  constexpr size_t kPieceCost = 16 * 1024;
  return std::max<size_t>(1, kPieceCost / std::max<size_t>(1, cost));
}

using Group = ExpertGroups::Group;

// Of neighbouring groups.
Range places_of(std::span<const Group> groups) {
  if (groups.empty()) return {0, 0};
  return {groups.front().places.begin, groups.back().places.end};
}

Range panels_of(std::span<const Group> groups) {
  if (groups.empty()) return {0, 0};
  const Group& last = groups.back();
  const size_t num_rows = last.places.end - last.places.begin;
  return {groups.front().first_panel, last.first_panel + (num_rows + kPanelRows - 1) / kPanelRows};
}

class Call {
 public:
  Call(ThreadPool& pool, const ExpertKernels& kernels, const CpuRouting& routing, ConstMatrixView x,
       const ExpertWeights& weights);

  void gather() const;
  void gate_and_up() const { multiply(gate_and_up_); }
  void activate() const;
  void down() const { multiply({&down_, 1}); }
  void sum_up(MatrixView y) const;

 private:
  // body(place, panel) for what the experts here have to do.
  template <class Body>
  void for_each_place(size_t grain, Body body) const;
  void gather_row(size_t place, size_t panel) const;
  PreparedInput input_of(const HostLinearPart& part, const Group& group) const;
  std::byte* panels_of_rows(Activations kind) const;
  void multiply(std::span<const HostLinearPart> parts) const;
  void multiply(const HostLinearPart& part, const Group& group, Range groups) const;

  ThreadPool& pool_;
  const ExpertKernels& kernels_;
  const CpuRouting& routing_;
  bool has_all_experts_;
  size_t first_expert_;
  std::span<const Group> groups_;  // of the experts that are here
  Range panels_;
  const ExpertRoom& room_;
  ConstMatrixView x_;
  size_t hidden_;
  size_t intermediate_;
  MatrixView rows_;    // [places, hidden]
  MatrixView halves_;  // [places, 2 * intermediate]
  std::array<HostLinearPart, 2> gate_and_up_;
  HostLinearPart down_;
};

Call::Call(ThreadPool& pool, const ExpertKernels& kernels, const CpuRouting& routing,
           ConstMatrixView x, const ExpertWeights& weights)
    : pool_(pool),
      kernels_(kernels),
      routing_(routing),
      has_all_experts_(weights.gate->num_experts() == routing.shape().num_experts),
      first_expert_(weights.first_expert),
      groups_(
          routing.groups().groups_of({first_expert_, first_expert_ + weights.gate->num_experts()})),
      panels_(panels_of(groups_)),
      room_(routing.room()),
      x_(x),
      hidden_(routing.shape().hidden_size),
      intermediate_(routing.shape().intermediate_size) {
  const size_t places = routing.groups().choices().size();
  rows_ = {room_.rows.floats(), places, hidden_, hidden_};
  halves_ = {room_.halves.floats(), places, 2 * intermediate_, 2 * intermediate_};
  float* const halves = halves_.data;
  gate_and_up_ = {
      HostLinearPart{weights.gate, nullptr, {halves, places, intermediate_, halves_.stride}},
      HostLinearPart{
          weights.up, nullptr, {halves + intermediate_, places, intermediate_, halves_.stride}}};
  down_ = {weights.down, nullptr, rows_};
}

template <class Body>
void Call::for_each_place(size_t grain, Body body) const {
  const auto all = routing_.groups().panels();
  pool_.parallel_for(panels_.end - panels_.begin, grain, [&](size_t begin, size_t end) {
    for (size_t panel = panels_.begin + begin; panel < panels_.begin + end; ++panel) {
      for (size_t place = all[panel].begin; place < all[panel].end; ++place) body(place, panel);
    }
  });
}

// Rows as the first maps want them, expert by expert.
void Call::gather() const {
  for_each_place(grain_for(kPanelRows * hidden_ * 2),
                 [&](size_t place, size_t panel) { gather_row(place, panel); });
}

void Call::gather_row(size_t place, size_t panel) const {
  const ExpertGroups& all = routing_.groups();
  const size_t row = size_t(all.choices()[place]) / routing_.shape().num_chosen;
  const size_t row_of_panel = place - all.panels()[panel].begin;
  if (any_wants(gate_and_up_, Activations::f32)) {
    std::memcpy(rows_.row(place), x_.row(row), hidden_ * sizeof(float));
  }
  for (const Activations kind : {Activations::q8_0, Activations::q8_k}) {
    if (!any_wants(gate_and_up_, kind)) continue;
    round_row(kernels_.linear, kind, {x_.row(row), hidden_},
              panels_of_rows(kind) + panel * bytes_of_panel(kind, hidden_), row_of_panel);
  }
}

std::byte* Call::panels_of_rows(Activations kind) const {
  return kind == Activations::q8_0 ? room_.rows_q8_0.data() : room_.rows_q8_k.data();
}

PreparedInput Call::input_of(const HostLinearPart& part, const Group& group) const {
  const Activations kind = packed(part).kernels().activations;
  if (kind == Activations::f32) {
    const MatrixView& rows = &part == &down_ ? halves_ : rows_;
    return {rows.row(group.places.begin), 1, rows.stride * sizeof(float)};
  }
  const size_t panel_bytes = bytes_of_panel(kind, packed(part).inputs());
  const std::byte* const panels =
      &part == &down_ ? room_.halves_rounded.data() : panels_of_rows(kind);
  return {panels + group.first_panel * panel_bytes, kPanelRows, panel_bytes};
}

// Pieces [0, n) are of the first group, the next n of the second.
void Call::multiply(std::span<const HostLinearPart> parts) const {
  const auto groups = groups_;
  const Pieces pieces(parts);
  const size_t total = groups.size() * pieces.total();
  const bool few = std::ranges::all_of(
      groups, [](const Group& group) { return group.places.end - group.places.begin <= kFewRows; });
  const size_t inputs = packed(parts.front()).inputs();
  const size_t grain = few ? few_rows_grain(total, inputs, pool_.num_threads()) : 1;
  pool_.parallel_for(total, grain, [&](size_t begin, size_t end) {
    while (begin < end) {
      const Group& group = groups[begin / pieces.total()];
      const size_t first = begin % pieces.total();
      const size_t last = std::min(pieces.total(), first + end - begin);
      pieces.for_each(first, last, [&](const HostLinearPart& part, Range part_groups) {
        multiply(part, group, part_groups);
      });
      begin += last - first;
    }
  });
}

// All rows of an expert while the weights are in the cache.
void Call::multiply(const HostLinearPart& part, const Group& group, Range groups) const {
  const FormatKernels& kernels = packed(part).kernels();
  const PreparedInput input = input_of(part, group);
  const size_t num_rows = group.places.end - group.places.begin;
  HostLinearPart of_group = part;
  of_group.y.data = part.y.row(group.places.begin);
  LinearJob job{.part = of_group,
                .expert = group.expert - first_expert_,
                .rows = {0, num_rows},
                .groups = groups};
  if (num_rows <= kFewRows) return kernels.few_rows(linear_args(job, input));
  for (size_t row = 0; row < num_rows; row += kTileRows) {
    job.rows = {row, std::min(row + kTileRows, num_rows)};
    kernels.many_rows(linear_args(job, input));
  }
}

// silu(gate) * up, over gate, and as the last map wants it.
void Call::activate() const {
  constexpr size_t kSigmoidCost = 12;
  const Activations kind = packed(down_).kernels().activations;
  const size_t panel_bytes = kind == Activations::f32 ? 0 : bytes_of_panel(kind, intermediate_);
  const auto activate_row = [&](size_t place, size_t panel) {
    float* const gate = halves_.row(place);
    kernels_.ops.silu_mul(gate, gate + intermediate_, gate, intermediate_);
    if (kind == Activations::f32) return;
    round_row(kernels_.linear, kind, {gate, intermediate_},
              room_.halves_rounded.data() + panel * panel_bytes,
              place - routing_.groups().panels()[panel].begin);
  };
  for_each_place(grain_for(kPanelRows * intermediate_ * kSigmoidCost), activate_row);
}

// Rows are cut so that one wide row keeps all threads busy.
void Call::sum_up(MatrixView y) const {
  constexpr size_t kCols = 1024;
  const size_t num_chosen = routing_.shape().num_chosen;
  const size_t pieces = (hidden_ + kCols - 1) / kCols;
  const size_t cost = std::min(kCols, hidden_) * num_chosen;
  pool_.parallel_for(y.rows * pieces, grain_for(cost), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t row = i / pieces;
      const size_t column = i % pieces * kCols;
      const CpuRouting::Terms terms =
          has_all_experts_ ? routing_.terms(row) : routing_.kept_terms(row);
      kernels_.ops.weighted_sum({.x = rows_.data + column,
                                 .x_stride = rows_.stride,
                                 .rows = terms.places.data(),
                                 .weights = terms.weights.data(),
                                 .num_rows = terms.places.size(),
                                 .y = y.row(row) + column,
                                 .n = std::min(kCols, hidden_ - column)});
    }
  });
}

void check(const CpuRouting& routing, const ExpertWeights& weights, ConstMatrixView x,
           MatrixView y) {
  const RoutingShape& shape = routing.shape();
  EVENER_ASSERT(x.rows == routing.num_rows());
  EVENER_ASSERT(y.rows == x.rows);
  EVENER_ASSERT(x.cols == shape.hidden_size);
  EVENER_ASSERT(y.cols == shape.hidden_size);
  const size_t num_present = weights.gate->num_experts();
  EVENER_ASSERT(weights.first_expert + num_present <= shape.num_experts);
  for (const Weight* const half : {weights.gate, weights.up}) {
    EVENER_ASSERT(half->num_experts() == num_present);
    EVENER_ASSERT(half->inputs() == shape.hidden_size);
    EVENER_ASSERT(half->outputs() == shape.intermediate_size);
  }
  EVENER_ASSERT(weights.down->num_experts() == num_present);
  EVENER_ASSERT(weights.down->inputs() == shape.intermediate_size);
  EVENER_ASSERT(weights.down->outputs() == shape.hidden_size);
}

}  // namespace

void expert_ffn(ThreadPool& pool, const ExpertKernels& kernels, CpuRouting& routing,
                ConstMatrixView x, const ExpertWeights& weights, MatrixView y) {
  check(routing, weights, x, y);
  const size_t num_present = weights.gate->num_experts();
  if (num_present < routing.shape().num_experts) {
    const Range experts{weights.first_expert, weights.first_expert + num_present};
    routing.keep(places_of(routing.groups().groups_of(experts)));
  }
  const Call call(pool, kernels, routing, x, weights);
  call.gather();
  call.gate_and_up();
  call.activate();
  call.down();
  call.sum_up(y);
}

}  // namespace evener::device::cpu
