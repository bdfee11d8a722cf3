// Ways of keeping keys and values: each runs, is invariant to chunks and companions, and takes the
// memory that its layout says.
#include "device/kv_type.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/models.h"
#include "model/loader.h"
#include "model/rank_memory.h"

namespace evener::engine {
namespace {

const std::vector<TokenId> kLongPrompt = [] {
  std::vector<TokenId> prompt(130);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = TokenId(50 + i * 37 % 900);
  return prompt;
}();

class EngineKvType : public testing::TestWithParam<device::KvTypeInfo> {
 protected:
  static EngineOptions options(size_t chunk) {
    EngineOptions options = small_options("");
    options.kv_type = GetParam().name;
    options.prefill_chunk = chunk;
    return options;
  }
};

TEST_P(EngineKvType, SaysTheSameWhateverTheChunks) {
  const auto whole = start(options(512));
  EXPECT_EQ(whole->facts().kv_type, GetParam().name);
  const Answer expected = generate(*whole, greedy(kLongPrompt, 40));
  EXPECT_EQ(expected.tokens.size(), 40U);
  for (const size_t chunk : {1, 7, 64}) {
    const auto engine = start(options(chunk));
    Listener companion;
    ASSERT_TRUE(engine->submit(greedy({60, 70, 80}, 60), companion.sink()).has_value());
    EXPECT_EQ(generate(*engine, greedy(kLongPrompt, 40)).tokens, expected.tokens)
        << "chunk " << chunk;
    companion.wait();
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineKvType, testing::ValuesIn(device::kKvTypes),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(KvTypeMemory, APageTakesWhatTheLayoutSays) {
  const auto file = gguf::File::open(std::filesystem::path(EVENER_TEST_DATA) /
                                     "../../models/evener-tiny35-q8_0.gguf");
  ASSERT_TRUE(file.has_value()) << to_string(file.error());
  const auto config = model::read_config(*file);
  ASSERT_TRUE(config.has_value()) << to_string(config.error());
  const size_t numbers =
      2 * config->num_attention_layers() * 64 * config->num_kv_heads * config->head_dim;
  ASSERT_GT(numbers, 0U);
  const auto page_bytes = [&](device::KvType type) {
    return model::kv_cache_shape(*config, {.num_pages = 1, .kv_type = type}).bytes_per_page();
  };
  EXPECT_EQ(page_bytes(device::KvType::f32), 4 * numbers);
  EXPECT_EQ(page_bytes(device::KvType::f16), 2 * numbers);
  EXPECT_EQ(page_bytes(device::KvType::q8_0), numbers / 32 * 34);
  EXPECT_EQ(page_bytes(device::KvType::fp8), numbers);
}

// The same memory holds twice as many pages of half the size, but for the last that does not fit.
TEST(KvTypeMemory, NarrowerTypesFitMorePagesIntoTheSameMemory) {
  const auto pages = [](std::string_view type) {
    EngineOptions options = small_options("llama");
    options.max_sequences = 500;  // more than fit
    options.memory_bytes_max = 12'000'000;
    options.kv_type = type;
    return start(options)->stats().cache.num_pages;
  };
  const size_t f32 = pages("f32");
  const size_t f16 = pages("f16");
  const size_t fp8 = pages("fp8");
  EXPECT_GT(f32, 4U);
  EXPECT_GE(f16, 2 * f32);
  EXPECT_LE(f16, 2 * f32 + 2);
  EXPECT_GE(fp8, 2 * f16);
  EXPECT_LE(fp8, 2 * f16 + 2);
}

TEST(KvTypeLoad, HeadsThatQ8_0CannotKeepAreRefusedBeforeAnythingIsPacked) {
  EngineOptions options = small_options("llama");
  options.kv_type = "q8_0";
  bool packed = false;
  const auto engine = Engine::create(options, [&packed](const LoadState& state) {
    packed = packed || state.phase != LoadState::Phase::map;
    return true;
  });
  ASSERT_FALSE(engine.has_value());
  EXPECT_FALSE(packed);
  EXPECT_EQ(engine.error().code, Code::unsupported);
  EXPECT_EQ(to_string(engine.error()),
            "cannot keep keys and values: as q8_0: its blocks are 32 channels wide, the model's "
            "heads have 16\n  choose --kv f16 or --kv fp8");
}

}  // namespace
}  // namespace evener::engine
