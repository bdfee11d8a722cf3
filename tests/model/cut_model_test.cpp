// Goal: parts of a model cover it, hold no more than theirs, and what cannot be cut so is named.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "gguf/file.h"
#include "model/golden_data.h"
#include "model/loader.h"
#include "model/part.h"

namespace evener::model {
namespace {

using parallel::ExpertCut;
using parallel::Layout;

class ModelFile {
 public:
  explicit ModelFile(const std::string& model)
      : file_(gguf::File::open(golden::model_file(model)).value()) {}

  const gguf::File& operator*() const { return file_; }
  const Config config() const { return read_config(file_).value(); }
  std::vector<Part> cut(const Layout& layout) const { return cut_model(file_, layout).value(); }
  std::string complaint(const Layout& layout) const {
    const auto parts = cut_model(file_, layout);
    return parts ? "" : to_string(parts.error());
  }

 private:
  gguf::File file_;
};

std::vector<Range> ranges(const std::vector<Part>& parts, Range Part::* member) {
  std::vector<Range> all;
  for (const Part& part : parts) all.push_back(part.*member);
  return all;
}

TEST(CutModel, GivesOneRankAllOfIt) {
  for (const char* name : {"llama", "qwen35", "qwen35moe", "qwen3next"}) {
    const ModelFile file(name);
    const std::vector<Part> parts = file.cut({});
    ASSERT_EQ(parts.size(), 1U);
    const Config whole = file.config();
    const Part all = whole_part(whole);
    EXPECT_EQ(parts[0].layers, all.layers);
    EXPECT_EQ(parts[0].vocabulary, all.vocabulary);
    EXPECT_EQ(parts[0].heads, all.heads);
    EXPECT_EQ(parts[0].kv_heads, all.kv_heads);
    EXPECT_EQ(parts[0].intermediate.count,
              whole.mixture.num_experts == 0 ? whole.intermediate_size : 0);
    EXPECT_EQ(parts[0].key_heads, all.key_heads);
    EXPECT_EQ(count_of(parts[0].value_heads), whole.delta_net.num_value_heads);
    EXPECT_EQ(parts[0].experts, all.experts);
    EXPECT_EQ(parts[0].expert_intermediate, all.expert_intermediate);
    EXPECT_EQ(parts[0].shared_intermediate, all.shared_intermediate);
    EXPECT_TRUE(parts[0].has_first_layer);
    EXPECT_TRUE(parts[0].has_last_layer);
  }
}

TEST(CutModel, SharesWholeGroupsOfHeads) {
  const std::vector<Part> parts = ModelFile("llama").cut({.ratio = {1, 1}});
  EXPECT_EQ(ranges(parts, &Part::kv_heads), (std::vector<Range>{{0, 1}, {1, 1}}));
  EXPECT_EQ(ranges(parts, &Part::heads), (std::vector<Range>{{0, 2}, {2, 2}}));
  EXPECT_EQ(ranges(parts, &Part::intermediate), (std::vector<Range>{{0, 64}, {64, 64}}));
  EXPECT_EQ(ranges(parts, &Part::vocabulary), (std::vector<Range>{{0, 160}, {160, 160}}));
}

TEST(CutModel, GivesRanksTheSameKvHeadWhereThereAreFewer) {
  const std::vector<Part> parts = ModelFile("llama").cut({.ratio = {3, 2, 1}});
  EXPECT_EQ(ranges(parts, &Part::kv_heads), (std::vector<Range>{{0, 1}, {1, 1}, {1, 1}}));
  EXPECT_EQ(ranges(parts, &Part::heads), (std::vector<Range>{{0, 2}, {2, 1}, {3, 1}}));
}

// qwen3next groups value heads, qwen35 deals them out: head j is key head j mod 2's.
TEST(CutModel, KeepsValueHeadsWithTheirKeyHead) {
  using Heads = std::vector<Range>;
  const auto grouped = ModelFile("qwen3next").cut({.ratio = {1, 1}});
  EXPECT_EQ(grouped[0].value_heads, (Heads{{0, 2}}));
  EXPECT_EQ(grouped[1].value_heads, (Heads{{2, 2}}));
  const auto tiled = ModelFile("qwen35").cut({.ratio = {1, 1}});
  EXPECT_EQ(tiled[0].value_heads, (Heads{{0, 1}, {2, 1}}));
  EXPECT_EQ(tiled[1].value_heads, (Heads{{1, 1}, {3, 1}}));
  const auto four = ModelFile("qwen35").cut({.ratio = {1, 1, 1, 1}});
  EXPECT_EQ(ranges(four, &Part::key_heads), (Heads{{0, 1}, {0, 1}, {1, 1}, {1, 1}}));
  EXPECT_EQ(four[1].value_heads, (Heads{{2, 1}}));
  EXPECT_EQ(four[2].value_heads, (Heads{{1, 1}}));
}

TEST(CutModel, CutsChannelsBetweenBlocksWhereThereAreEnough) {
  const auto small = ModelFile("llama256-Q8_0").cut({.ratio = {2, 1}});
  EXPECT_EQ(ranges(small, &Part::intermediate), (std::vector<Range>{{0, 160}, {160, 96}}));
  const auto large = ModelFile("llama256-Q4_K").cut({.ratio = {2, 1}});  // one block
  EXPECT_EQ(ranges(large, &Part::intermediate), (std::vector<Range>{{0, 160}, {160, 96}}));
}

TEST(CutModel, SharesExpertsWholeWhereTheirBlocksAreTooCoarse) {
  const ModelFile coarse("qwen35moe256-Q4_K_M");  // 3 experts of 256 channels
  const auto automatic = coarse.cut({.ratio = {2, 1}});
  EXPECT_EQ(ranges(automatic, &Part::experts), (std::vector<Range>{{0, 2}, {2, 1}}));
  EXPECT_EQ(ranges(automatic, &Part::expert_intermediate),
            (std::vector<Range>{{0, 256}, {0, 256}}));
  const auto inside = coarse.cut({.ratio = {1, 1}, .experts = ExpertCut::inside});
  EXPECT_EQ(ranges(inside, &Part::experts), (std::vector<Range>{{0, 3}, {0, 3}}));
  EXPECT_EQ(ranges(inside, &Part::expert_intermediate), (std::vector<Range>{{0, 128}, {128, 128}}));
  const auto fine = ModelFile("qwen3moe").cut({.ratio = {1, 1}});
  EXPECT_EQ(ranges(fine, &Part::expert_intermediate), (std::vector<Range>{{0, 16}, {16, 16}}));
}

TEST(CutModel, GivesEachStageItsLayersAndTheEndsToTheOuterOnes) {
  const std::vector<Part> parts = ModelFile("qwen35").cut({.borders = {1, 3}, .ratio = {1, 1}});
  ASSERT_EQ(parts.size(), 6U);
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    EXPECT_EQ(parts[rank].shard, rank % 2);
    EXPECT_EQ(parts[rank].has_first_layer, rank < 2);
    EXPECT_EQ(parts[rank].has_last_layer, rank >= 4);
  }
  EXPECT_EQ(parts[0].layers, (Range{0, 1}));
  EXPECT_EQ(parts[3].layers, (Range{1, 2}));
  EXPECT_EQ(parts[4].layers, (Range{3, 1}));
}

struct Refused {
  const char* model;
  Layout layout;
  const char* why;  // part of the message
};

TEST(CutModel, NamesWhatCannotBe) {
  const std::vector<double> five(5, 1);
  for (const Refused& refused :
       {Refused{"llama", {.ratio = five}, "5 shards, the model has 4 attention heads"},
        Refused{"qwen35", {.ratio = five}, "5 shards, the model has 4 attention heads"},
        Refused{"llama", {.borders = {1, 2}}, "3 stages, the model has 2 layers"},
        Refused{"qwen35", {.borders = {1, 2, 3, 4}}, "5 stages, the model has 4 layers"},
        Refused{"qwen35", {.borders = {4}}, "begins with layer 4"},
        Refused{"qwen35", {.borders = {0}}, "begins with layer 0"},
        Refused{"qwen35", {.borders = {2, 2}}, "begins with layer 2"},
        Refused{"qwen35", {.borders = {3, 1}}, "begins with layer 1, behind one that begins with"},
        Refused{"llama", {.ratio = {}}, "a ratio of no shards"},
        Refused{"llama", {.ratio = {1, 0}}, "the ratio has a share of 0"},
        Refused{"llama", {.ratio = {-1, 1}}, "the ratio has a share of -1"},
        Refused{"llama", {.ratio = {1, NAN}}, "the ratio has a share of nan"},
        Refused{"qwen35moe256-Q4_K_M",
                {.ratio = {1, 1, 1, 1}, .experts = ExpertCut::whole},
                "4 shards, the model has 3 experts"}}) {
    const ModelFile file(refused.model);
    const std::string text = file.complaint(refused.layout);
    EXPECT_NE(text.find(refused.why), std::string::npos) << text;
    EXPECT_NE(text.find("cannot cut model over ranks: " + (*file).name()), std::string::npos);
    EXPECT_EQ(cut_model(*file, refused.layout).error().code, Code::invalid_argument);
  }
}

// What a loaded model holds on its device; embeddings are read where they lie.
class Held final : public TensorVisitor {
 public:
  void matrix(Matrix& slot, const TensorSpec& spec) override {
    if (spec.use == device::WeightUse::embedding) {
      embedding_rows += (*slot).outputs();
      return;
    }
    matrix_values += (*slot).num_experts() * (*slot).outputs() * (*slot).inputs();
  }
  void vector(Vector& slot, const TensorSpec&) override {
    vector_values += slot.tensor.rows * slot.tensor.cols;
  }

  size_t matrix_values = 0;
  size_t vector_values = 0;
  size_t embedding_rows = 0;
  size_t bytes = 0;  // as weight_bytes() foretold and loading told
};

// Of all parts together. F32 models.
Held held_by(const std::string& name, const Layout& layout) {
  const ModelFile file(name);
  Held held;
  for (const Part& part : file.cut(layout)) {
    const auto device =
        device::cpu::create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = ""}).value();
    size_t done = 0;
    const auto model = load_model(*file, part, *device, [&](size_t now, size_t total) {
                         done = now;
                         return now <= total;
                       }).value();
    EXPECT_EQ(done, weight_bytes(*file, *model));
    held.bytes += done;
    model->visit(held);
  }
  return held;
}

TEST(PartsOfAModel, HoldEveryMatrixOnce) {
  const Held whole = held_by("llama", {});
  EXPECT_EQ(whole.bytes, 4 * (whole.matrix_values + whole.vector_values));
  for (const Layout& layout : {Layout{.ratio = {1, 1}}, Layout{.ratio = {3, 1}},
                               Layout{.borders = {1}}, Layout{.borders = {1}, .ratio = {1, 1}}}) {
    const Held parts = held_by("llama", layout);
    EXPECT_EQ(parts.matrix_values, whole.matrix_values);
    EXPECT_EQ(parts.embedding_rows, whole.embedding_rows);
    // Norms are on every shard.
    EXPECT_EQ(parts.vector_values, whole.vector_values * layout.grid().num_shards);
    EXPECT_EQ(parts.bytes, 4 * (parts.matrix_values + parts.vector_values));
  }
}

// Four shards of two kv heads of 16 channels: each is held twice, in two layers, as k and as v.
TEST(PartsOfAModel, HoldTheKvHeadsThatTheyShare) {
  const size_t replicated = 2 * 2 * (2 * 16) * 64;
  EXPECT_EQ(held_by("llama", {.ratio = {1, 1, 1, 1}}).matrix_values,
            held_by("llama", {}).matrix_values + replicated);
}

// Routers are on every shard; all else is there once.
TEST(PartsOfAModel, HoldExpertsOnce) {
  const size_t whole = held_by("qwen3moe", {}).matrix_values;
  for (const ExpertCut experts : {ExpertCut::inside, ExpertCut::whole}) {
    const size_t routers = 2 * 6 * 64;
    EXPECT_EQ(held_by("qwen3moe", {.ratio = {2, 1}, .experts = experts}).matrix_values,
              whole + routers);
  }
}

// A matrix of blocks of 256 inputs, 4 shards: what is cut inside them takes 16 bits a weight.
TEST(PartsOfAModel, KeepWhatIsCutInsideBlocksAsF16) {
  const ModelFile file("llama256-Q4_K");
  size_t decoded = 0;
  for (const Part& part : file.cut({.ratio = {1, 1, 1, 1}})) {
    const auto device =
        device::cpu::create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = ""}).value();
    const auto model = load_model(*file, part, *device, {}).value();
    class Decoded final : public TensorVisitor {
     public:
      void matrix(Matrix& slot, const TensorSpec& spec) override {
        const bool is_cut =
            spec.name.ends_with("attn_output.weight") || spec.name.ends_with("ffn_down.weight");
        EXPECT_EQ((*slot).dtype() == DType::F16, is_cut) << spec.name;
        values += is_cut ? (*slot).outputs() * (*slot).inputs() : 0;
      }
      void vector(Vector&, const TensorSpec&) override {}
      size_t values = 0;
    } visitor;
    model->visit(visitor);
    decoded += visitor.values;
  }
  EXPECT_EQ(decoded, size_t{2 * 256 * 256});
}

}  // namespace
}  // namespace evener::model
