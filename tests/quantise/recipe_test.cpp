// Goal: every recipe gives each matrix a type that its rows can have, more bits where they are
// known to count, and leaves alone what is small and delicate.
#include "quantise/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "quant/format.h"

namespace evener::quantise {
namespace {

using enum DType;

gguf::Tensor tensor(std::string name, std::vector<uint64_t> shape) {
  return {.name = std::move(name), .dtype = F32, .shape = std::move(shape), .bytes = {}};
}

DType type_of(const char* recipe, const std::string& name, const ModelShape& shape,
              std::vector<uint64_t> dimensions = {1024, 2048}) {
  const auto type = choose_type(*find_recipe(recipe), tensor(name, std::move(dimensions)), shape);
  EXPECT_TRUE(type.has_value()) << name;
  return type.value_or(I8);
}

constexpr ModelShape kDense = {.num_layers = 32, .heads_per_kv = 2, .has_output = true};
constexpr ModelShape kMixture = {
    .num_layers = 32, .heads_per_kv = 8, .is_mixture = true, .has_output = true};

TEST(Recipes, HaveNamesThatCanBeFoundInAnyCase) {
  std::set<std::string_view> names;
  for (const Recipe& recipe : recipes()) {
    names.insert(recipe.name);
    EXPECT_EQ(find_recipe(recipe.name), &recipe);
  }
  EXPECT_EQ(names,
            (std::set<std::string_view>{"F16", "BF16", "Q8_0", "Q4_0", "Q4_K_M", "Q5_K_M", "Q6_K",
                                        "IQ4_NL", "IQ4_XS", "IQ3_S", "IQ3_XXS", "MXFP4"}));
  EXPECT_EQ(find_recipe("q4_k_m"), find_recipe("Q4_K_M"));
  EXPECT_EQ(find_recipe("Q4_K"), nullptr);
  EXPECT_EQ(find_recipe(""), nullptr);
}

TEST(Recipes, ChooseOnlyTypesThatCanBeWrittenInWholeBlocks) {
  const std::vector<std::string> names = {
      "token_embd.weight",          "output.weight",
      "blk.0.attn_q.weight",        "blk.7.attn_k.weight",
      "blk.31.attn_v.weight",       "blk.3.attn_output.weight",
      "blk.4.attn_qkv.weight",      "blk.4.ssm_out.weight",
      "blk.4.ssm_alpha.weight",     "blk.1.ffn_gate.weight",
      "blk.1.ffn_down.weight",      "blk.1.ffn_down_exps.weight",
      "blk.9.ffn_gate_exps.weight", "blk.9.ffn_up_shexp.weight",
      "blk.99.unheard_of.weight"};
  for (const Recipe& recipe : recipes()) {
    for (const ModelShape& shape : {kDense, kMixture, ModelShape{}}) {
      for (const std::string& name : names) {
        for (const uint64_t inputs : {256, 64, 100}) {
          const auto type = choose_type(recipe, tensor(name, {inputs, 8, 4}), shape);
          ASSERT_TRUE(type.has_value()) << recipe.name << ' ' << name;
          EXPECT_NE(quant::find_format(*type)->encode, nullptr) << recipe.name << ' ' << name;
          EXPECT_EQ(inputs % info(*type).block_size, 0u) << recipe.name << ' ' << name;
        }
      }
    }
  }
}

TEST(Recipes, LeaveVectorsAndDelicateMatricesAlone) {
  for (const Recipe& recipe : recipes()) {
    for (const auto& kept :
         {tensor("output_norm.weight", {256}), tensor("blk.0.ffn_gate_inp.weight", {256, 32}),
          tensor("blk.0.ssm_conv1d.weight", {4, 512}), tensor("blk.0.ssm_a", {256, 4}),
          tensor("blk.0.ffn_gate_inp_shexp.weight", {256, 1}),
          tensor("blk.0.ssm_dt.bias", {256, 2})}) {
      EXPECT_EQ(choose_type(recipe, kept, kMixture), std::nullopt) << kept.name;
    }
  }
}

TEST(Recipes, GiveTheTellingLayersMoreBits) {
  for (const auto& [layer, type] : {std::pair{0, Q6_K},
                                    {3, Q6_K},
                                    {4, Q4_K},
                                    {5, Q4_K},
                                    {6, Q6_K},
                                    {7, Q4_K},
                                    {27, Q6_K},
                                    {28, Q6_K},
                                    {31, Q6_K}}) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    EXPECT_EQ(type_of("Q4_K_M", prefix + "ffn_down.weight", kDense), type) << layer;
    EXPECT_EQ(type_of("Q4_K_M", prefix + "attn_v.weight", kDense), type) << layer;
    EXPECT_EQ(type_of("Q4_K_M", prefix + "ffn_up.weight", kDense), Q4_K) << layer;
  }
  EXPECT_EQ(type_of("Q4_K_M", "blk.5.attn_qkv.weight", kDense), Q5_K);
  EXPECT_EQ(type_of("Q4_K_M", "output.weight", kDense), Q6_K);
  EXPECT_EQ(type_of("Q4_K_M", "token_embd.weight", kDense), Q4_K);
}

TEST(Recipes, AHeadThatIsTheEmbeddingCountsAsHead) {
  ModelShape tied = kDense;
  tied.has_output = false;
  EXPECT_EQ(type_of("Q4_K_M", "token_embd.weight", tied), Q6_K);
  EXPECT_EQ(type_of("Q4_0", "token_embd.weight", tied), Q6_K);
  EXPECT_EQ(type_of("IQ3_S", "token_embd.weight", tied), Q6_K);
  EXPECT_EQ(type_of("BF16", "token_embd.weight", tied), BF16);
}

TEST(Recipes, SpareWhatEveryTokenOfAMixturePassesThrough) {
  for (const char* const name : {"blk.5.attn_q.weight", "blk.5.ffn_up_shexp.weight"}) {
    EXPECT_EQ(type_of("Q4_K_M", name, kMixture), Q6_K) << name;
    EXPECT_EQ(type_of("IQ3_S", name, kMixture), Q5_K) << name;
    EXPECT_EQ(type_of("MXFP4", name, kMixture), Q8_0) << name;
  }
  EXPECT_EQ(type_of("Q4_K_M", "blk.5.ffn_up_exps.weight", kMixture), Q4_K);
  EXPECT_EQ(type_of("IQ3_S", "blk.5.ffn_up_exps.weight", kMixture), IQ3_S);
  EXPECT_EQ(type_of("MXFP4", "blk.5.ffn_up_exps.weight", kMixture), MXFP4);
  EXPECT_EQ(type_of("MXFP4", "blk.5.ffn_up.weight", kDense), MXFP4);
}

TEST(Recipes, AnImportanceMatrixMakesBigTypesForEarlyLayersNeedless) {
  ModelShape weighted = kDense;
  weighted.is_weighted = true;
  EXPECT_EQ(type_of("IQ3_XXS", "blk.0.ffn_down.weight", kDense), Q4_K);
  EXPECT_EQ(type_of("IQ3_XXS", "blk.0.ffn_down.weight", weighted), IQ3_XXS);
}

TEST(Recipes, TakeSmallerBlocksWhereRowsAreShort) {
  EXPECT_EQ(type_of("Q4_K_M", "blk.5.ffn_up.weight", kDense, {96, 8}), Q5_0);
  EXPECT_EQ(type_of("Q5_K_M", "blk.5.ffn_up.weight", kDense, {96, 8}), Q8_0);
  EXPECT_EQ(type_of("IQ3_XXS", "blk.5.ffn_up.weight", kDense, {96, 8}), IQ4_NL);
  EXPECT_EQ(type_of("IQ3_XXS", "blk.5.ffn_up.weight", kDense, {100, 8}), F16);
}

}  // namespace
}  // namespace evener::quantise
