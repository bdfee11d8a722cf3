// Where a model is cut: heads, channels, experts and tokens shared out by the ratio.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/loader.h"
#include "model/part.h"
#include "parallel/shares.h"
#include "tensor/dtype.h"

namespace evener::model {
namespace {

using Ratio = std::span<const double>;

// Experts are cut inside while nobody has more than this beyond a fair share; which experts tokens
// choose is no more even than that.
constexpr double kInsideImbalanceMax = 1.25;

size_t divided_up(size_t count, size_t unit) { return (count + unit - 1) / unit; }

Error refuse(const gguf::File& file, std::string why, std::string remedy) {
  return Error{.code = Code::invalid_argument,
               .doing = "cut model over ranks",
               .where = file.name(),
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

// Of all layers' tensors of this name: what their blocks have in common.
size_t block_of(const gguf::File& file, const Config& c, std::string_view name) {
  size_t block = 1;
  for (size_t layer = 0; layer < c.num_layers; ++layer) {
    const gguf::Tensor* tensor = file.find_tensor(fmt::format("blk.{}.{}", layer, name));
    if (tensor != nullptr) block = std::lcm(block, size_t{info(tensor->dtype).block_size});
  }
  return block;
}

// How many neighbours of `width` channels fill whole blocks.
size_t unit_of_blocks(size_t block, size_t width) { return block / std::gcd(block, width); }

std::vector<Range> cut_in_units(size_t count, size_t unit, Ratio ratio) {
  std::vector<Range> ranges;
  size_t begin = 0;
  for (const size_t units : parallel::share_out(divided_up(count, unit), ratio)) {
    const size_t end = std::min(count, begin + units * unit);
    ranges.push_back({.begin = begin, .count = end - begin});
    begin = end;
  }
  return ranges;
}

// The largest of `units` that leaves every shard some; else the last.
size_t choose_unit(size_t count, size_t num_shards, std::initializer_list<size_t> units) {
  for (const size_t unit : units) {
    if (divided_up(count, unit) >= num_shards) return unit;
  }
  return *(units.end() - 1);
}

// Of channels that are inputs of a matrix with such blocks. Vectors of the kernels like 32.
size_t channel_unit(size_t count, size_t block, size_t num_shards) {
  return choose_unit(count, num_shards, {std::lcm(block, size_t{32}), 32, 16, kWidthUnit});
}

double imbalance_of(const std::vector<Range>& ranges, Ratio ratio) {
  std::vector<size_t> counts;
  for (const Range& range : ranges) counts.push_back(range.count);
  return parallel::imbalance(counts, ratio);
}

// Heads that share something: query heads a kv head, value heads a key head. Units are those at
// whose borders no block is cut.
struct HeadGroups {
  size_t num_groups = 0;
  size_t num_members = 0;  // of each
  size_t group_unit = 1;
  size_t member_unit = 1;
};

// Groups, and which members of each.
struct GroupCut {
  Range groups;
  Range members;
};

// Whole groups, or with more shards than groups members of one.
std::vector<GroupCut> cut_groups(const HeadGroups& heads, Ratio ratio) {
  std::vector<GroupCut> cuts;
  if (ratio.size() <= heads.num_groups) {
    const size_t unit = choose_unit(heads.num_groups, ratio.size(), {heads.group_unit, 1});
    const Range all{.begin = 0, .count = heads.num_members};
    for (const Range& groups : cut_in_units(heads.num_groups, unit, ratio))
      cuts.push_back({.groups = groups, .members = all});
    return cuts;
  }
  const bool by_blocks = heads.num_members % heads.member_unit == 0 &&
                         heads.num_groups * (heads.num_members / heads.member_unit) >= ratio.size();
  const size_t unit = by_blocks ? heads.member_unit : 1;
  for (const auto& share :
       parallel::share_groups(heads.num_groups, heads.num_members / unit, ratio)) {
    cuts.push_back({.groups = {.begin = share.group, .count = 1},
                    .members = scaled({share.first_unit, share.num_units}, unit)});
  }
  return cuts;
}

// What there is to share out, so that every shard has at least one.
struct Limit {
  size_t count;
  const char* what;
};

// Fills in what is the same for all layers; one part for each shard.
class ShardCutter {
 public:
  ShardCutter(const gguf::File& file, const Config& config, const parallel::Layout& layout)
      : file_(file), c_(config), layout_(layout), parts_(layout.ratio.size()) {}

  Result<std::vector<Part>> cut();

 private:
  Status check() const;
  Limit expert_limit() const;
  void cut_heads();
  void cut_delta_net();
  void cut_channels(Range Part::* channels, size_t count, std::string_view name);
  void cut_experts();
  void set(Range Part::* member, const std::vector<Range>& ranges);
  Ratio ratio() const { return layout_.ratio; }

  const gguf::File& file_;
  const Config& c_;
  const parallel::Layout& layout_;
  std::vector<Part> parts_;
};

void ShardCutter::set(Range Part::* member, const std::vector<Range>& ranges) {
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].*member = ranges[i];
}

Limit ShardCutter::expert_limit() const {
  const Limit groups{c_.mixture.intermediate_size / kWidthUnit,
                     "groups of 4 channels in its experts"};
  const Limit experts{c_.mixture.num_experts, "experts"};
  if (layout_.experts == parallel::ExpertCut::inside) return groups;
  if (layout_.experts == parallel::ExpertCut::whole) return experts;
  return groups.count > experts.count ? groups : experts;
}

Status ShardCutter::check() const {
  const size_t n = ratio().size();
  std::vector<Limit> limits = {{c_.num_heads, "attention heads"}, {c_.vocab_size, "tokens"}};
  if (c_.delta_net.num_value_heads > 0)
    limits.push_back({c_.delta_net.num_value_heads, "value heads in its delta nets"});
  if (c_.mixture.num_experts == 0)
    limits.push_back({c_.intermediate_size / kWidthUnit, "groups of 4 channels in its MLPs"});
  if (c_.mixture.num_experts > 0) limits.push_back(expert_limit());
  if (c_.mixture.shared_size > 0)
    limits.push_back(
        {c_.mixture.shared_size / kWidthUnit, "groups of 4 channels in its shared expert"});
  for (const Limit& limit : limits) {
    if (n <= limit.count) continue;
    return refuse(file_, fmt::format("{} shards, the model has {} {}", n, limit.count, limit.what),
                  fmt::format("let at most {} ranks share a layer, and cut between layers for more",
                              limit.count));
  }
  return {};
}

void ShardCutter::cut_heads() {
  const size_t members = c_.num_heads / c_.num_kv_heads;
  const size_t block = block_of(file_, c_, "attn_output.weight");
  const auto cuts = cut_groups({.num_groups = c_.num_kv_heads,
                                .num_members = members,
                                .group_unit = unit_of_blocks(block, members * c_.head_dim),
                                .member_unit = unit_of_blocks(block, c_.head_dim)},
                               ratio());
  for (size_t i = 0; i < parts_.size(); ++i) {
    const GroupCut& cut = cuts[i];
    parts_[i].kv_heads = cut.groups;
    parts_[i].heads = {.begin = cut.groups.begin * members + cut.members.begin,
                       .count = cut.groups.count * cut.members.count};
  }
}

void ShardCutter::cut_delta_net() {
  const DeltaNetConfig& d = c_.delta_net;
  const size_t members = d.num_value_heads / d.num_key_heads;
  const size_t block = block_of(file_, c_, "ssm_out.weight");
  const bool grouped = d.mapping == device::HeadMapping::grouped;
  // Tiled, a key head's value heads lie num_key_heads apart, so that cuts come again at that width.
  const bool tiles_are_blocks = d.num_key_heads * d.head_dim % block == 0;
  HeadGroups heads{.num_groups = d.num_key_heads, .num_members = members};
  if (grouped) {
    heads.group_unit = unit_of_blocks(block, members * d.head_dim);
    heads.member_unit = unit_of_blocks(block, d.head_dim);
  } else if (tiles_are_blocks) {
    heads.group_unit = unit_of_blocks(block, d.head_dim);
  }
  const auto cuts = cut_groups(heads, ratio());
  for (size_t i = 0; i < parts_.size(); ++i) {
    const GroupCut& cut = cuts[i];
    parts_[i].key_heads = cut.groups;
    if (grouped) {
      for (size_t group = cut.groups.begin; group < cut.groups.end(); ++group) {
        append(parts_[i].value_heads,
               {.begin = group * members + cut.members.begin, .count = cut.members.count});
      }
    } else {
      for (size_t tile = cut.members.begin; tile < cut.members.end(); ++tile) {
        append(parts_[i].value_heads,
               {.begin = tile * d.num_key_heads + cut.groups.begin, .count = cut.groups.count});
      }
    }
  }
}

// `name` is the matrix whose inputs they are.
void ShardCutter::cut_channels(Range Part::* channels, size_t count, std::string_view name) {
  const size_t unit = channel_unit(count, block_of(file_, c_, name), ratio().size());
  set(channels, cut_in_units(count, unit, ratio()));
}

void ShardCutter::cut_experts() {
  const MixtureConfig& m = c_.mixture;
  const size_t n = ratio().size();
  const size_t block = block_of(file_, c_, "ffn_down_exps.weight");
  const size_t unit = channel_unit(m.intermediate_size, block, n);
  bool inside = layout_.experts != parallel::ExpertCut::whole;
  if (layout_.experts == parallel::ExpertCut::automatic && m.num_experts >= n) {
    inside = divided_up(m.intermediate_size, unit) >= n && unit % block == 0 &&
             imbalance_of(cut_in_units(m.intermediate_size, unit, ratio()), ratio()) <=
                 kInsideImbalanceMax;
  }
  if (inside) {
    set(&Part::expert_intermediate, cut_in_units(m.intermediate_size, unit, ratio()));
    for (Part& part : parts_) part.experts = {.begin = 0, .count = m.num_experts};
  } else {
    set(&Part::experts, cut_in_units(m.num_experts, 1, ratio()));
    for (Part& part : parts_) part.expert_intermediate = {.begin = 0, .count = m.intermediate_size};
  }
}

Result<std::vector<Part>> ShardCutter::cut() {
  const size_t n = ratio().size();
  RETURN_IF_ERROR(check());
  for (size_t i = 0; i < n; ++i) {
    parts_[i].shard = i;
    parts_[i].num_shards = n;
  }
  cut_heads();
  set(&Part::vocabulary,
      cut_in_units(c_.vocab_size, choose_unit(c_.vocab_size, n, {16, 1}), ratio()));
  if (c_.delta_net.num_value_heads > 0) cut_delta_net();
  if (c_.mixture.num_experts == 0) {
    cut_channels(&Part::intermediate, c_.intermediate_size, "ffn_down.weight");
    return std::move(parts_);
  }
  cut_experts();
  if (c_.mixture.shared_size > 0)
    cut_channels(&Part::shared_intermediate, c_.mixture.shared_size, "ffn_down_shexp.weight");
  return std::move(parts_);
}

Status check_layout(const gguf::File& file, const Config& c, const parallel::Layout& layout) {
  if (layout.ratio.empty()) return refuse(file, "a ratio of no shards", "");
  for (const double share : layout.ratio) {
    if (std::isfinite(share) && share > 0) continue;
    return refuse(file, fmt::format("the ratio has a share of {}", share),
                  "give every rank a share above 0, or leave its device out");
  }
  const size_t num_stages = layout.borders.size() + 1;
  if (num_stages > c.num_layers) {
    return refuse(file, fmt::format("{} stages, the model has {} layers", num_stages, c.num_layers),
                  "every stage needs at least one layer");
  }
  size_t last = 0;
  for (const size_t border : layout.borders) {
    if (border > last && border < c.num_layers) {
      last = border;
      continue;
    }
    return refuse(file,
                  fmt::format("a stage begins with layer {}, behind one that begins with layer {}; "
                              "the model has layers 0 to {}",
                              border, last, c.num_layers - 1),
                  "borders rise, and none is beyond the last layer");
  }
  return {};
}

}  // namespace

Result<std::vector<Part>> cut_model(const gguf::File& file, const parallel::Layout& layout) {
  ASSIGN_OR_RETURN(const Config config, read_config(file));
  RETURN_IF_ERROR(check_layout(file, config, layout));
  ASSIGN_OR_RETURN(const std::vector<Part> shards, ShardCutter(file, config, layout).cut());
  const size_t num_stages = layout.grid().num_stages;
  std::vector<Part> parts;
  for (size_t stage = 0; stage < num_stages; ++stage) {
    const bool is_last = stage + 1 == num_stages;
    const size_t begin = stage == 0 ? 0 : layout.borders[stage - 1];
    const size_t end = is_last ? config.num_layers : layout.borders[stage];
    for (Part part : shards) {
      part.layers = {.begin = begin, .count = end - begin};
      part.has_first_layer = stage == 0;
      part.has_last_layer = is_last;
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace evener::model
