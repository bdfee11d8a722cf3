// A sequence that fails takes nobody with it. Method: a model with one poisoned embedding row, so
// whoever says that token gets logits that are no numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "engine/models.h"
#include "gguf/file.h"

namespace evener::engine {
namespace {

constexpr TokenId kPoison = 77;

// Of models with a head of their own, so that the poisoned row is an input only.
std::filesystem::path write_poisoned_model(const std::string& name,
                                           const std::filesystem::path& folder) {
  const auto source = model_path(name);
  std::ifstream in(source, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto file = gguf::File::open(source);
  const gguf::Tensor* embedding = file->find_tensor("token_embd.weight");
  EXPECT_NE(file->find_tensor("output.weight"), nullptr);
  EXPECT_EQ(embedding->dtype, DType::F32);
  const size_t width = embedding->shape[0];
  const std::vector<float> row(width, NAN);
  std::memcpy(bytes.data() + embedding->file_offset + kPoison * width * sizeof(float), row.data(),
              width * sizeof(float));
  const auto path = folder / "poisoned.gguf";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

class FailingSequence : public testing::TestWithParam<std::string> {};

TEST_P(FailingSequence, FailsAloneAndItsPlaceCanBeUsedAgain) {
  EngineOptions options = small_options(GetParam());
  const std::vector<TokenId> healthy_prompt = {1, 2, 3};
  const Answer expected = generate(*start(options), greedy(healthy_prompt, 30));

  const TemporaryFolder folder;
  options.model = write_poisoned_model(GetParam(), folder.path());
  const auto engine = start(options);
  Listener healthy;
  Listener poisoned;
  ASSERT_TRUE(engine->submit(greedy(healthy_prompt, 30), healthy.sink()).has_value());
  const std::vector<TokenId> poisoned_prompt(40, kPoison);
  ASSERT_TRUE(engine->submit(greedy(poisoned_prompt, 30), poisoned.sink()).has_value());

  const Answer& failed = poisoned.wait();
  EXPECT_EQ(failed.finish, FinishReason::failed);
  ASSERT_TRUE(failed.error.has_value());
  EXPECT_EQ(failed.error->code, Code::internal);
  EXPECT_EQ(to_string(*failed.error),
            "cannot choose a token: generated token 0: the model gave no finite logit");
  EXPECT_TRUE(failed.tokens.empty());

  EXPECT_EQ(healthy.wait().tokens, expected.tokens);
  EXPECT_EQ(generate(*engine, greedy(healthy_prompt, 30)).tokens, expected.tokens)
      << "on the pages that held numbers that are none";
  EXPECT_EQ(engine->stats().cache.pages_private, 0U);
}

TEST_P(FailingSequence, PromptLogprobsOfAPoisonedPromptFailToo) {
  EngineOptions options = small_options(GetParam());
  const TemporaryFolder folder;
  options.model = write_poisoned_model(GetParam(), folder.path());
  const auto engine = start(options);
  GenerationRequest request = greedy({5, kPoison, 6}, 0);
  request.prompt_logprobs = true;
  EXPECT_EQ(generate(*engine, std::move(request)).finish, FinishReason::failed);
}

INSTANTIATE_TEST_SUITE_P(Families, FailingSequence, testing::Values("llama", "qwen35"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace evener::engine
