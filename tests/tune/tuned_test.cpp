#include "tune/tuned.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "base/temporary_folder.h"

namespace evener::tune {
namespace {

using testing::HasSubstr;

const Subject kSubject{.machine = "old box, Xeon", .model = "m.gguf", .model_bytes = 123};

Tuned tuned() {
  return {.subject = kSubject,
          .trial = {.devices = {"cpu:0", "cpu:1"}, .num_shards = 2, .ratio = {5, 4}, .chunk = 256},
          .speeds = {.prefill = 100.5, .decode = 20.25, .decode_streams = 30},
          .request = {.prompt_tokens = 7, .answer_tokens = 8},
          .when = "2026-11-30T12:00:00Z"};
}

TEST(Tuned, IsFoundAsItWasSaved) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save_tuned(folder.path() / "new", tuned()));
  const auto found = find_tuned(folder.path() / "new", kSubject);
  ASSERT_TRUE(found);
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->trial, tuned().trial);
  EXPECT_EQ((*found)->speeds.decode, 20.25);
  EXPECT_EQ((*found)->request.answer_tokens, 8);
  EXPECT_EQ((*found)->when, tuned().when);
}

TEST(Tuned, IsOfOneModelOnOneMachine) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save_tuned(folder.path(), tuned()));
  for (const Subject& other :
       {Subject{.machine = "new box", .model = "m.gguf", .model_bytes = 123},
        Subject{.machine = "old box, Xeon", .model = "n.gguf", .model_bytes = 123},
        Subject{.machine = "old box, Xeon", .model = "m.gguf", .model_bytes = 124}}) {
    const auto found = find_tuned(folder.path(), other);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
}

TEST(Tuned, NamesTheModelByItsFileOrFolder) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "a.gguf") << "12345";
  std::ofstream(folder.path() / "a.safetensors") << "123";
  const auto of_file = subject_of(folder.path() / "a.gguf");
  ASSERT_TRUE(of_file);
  EXPECT_EQ(of_file->model, "a.gguf");
  EXPECT_EQ(of_file->model_bytes, 5);
  const auto of_folder = subject_of(folder.path() / "");
  ASSERT_TRUE(of_folder);
  EXPECT_EQ(of_folder->model, folder.path().filename());
  EXPECT_EQ(of_folder->model_bytes, 3);
  EXPECT_FALSE(subject_of(folder.path() / "none.gguf"));
}

// What somebody has edited by hand.
class DamagedTuned : public testing::TestWithParam<std::array<const char*, 3>> {};

TEST_P(DamagedTuned, IsNamedByItsField) {
  const auto [from, to, message] = GetParam();
  const TemporaryFolder folder;
  const auto path = save_tuned(folder.path(), tuned());
  ASSERT_TRUE(path);
  std::ifstream in(*path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, std::string_view(from).size(), to);
  std::ofstream(*path) << text;
  const auto found = find_tuned(folder.path(), kSubject);
  ASSERT_FALSE(found);
  EXPECT_THAT(to_string(found.error()), HasSubstr(message));
  EXPECT_THAT(to_string(found.error()), HasSubstr("cannot read the tuned layout"));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, DamagedTuned,
    testing::Values(std::array{"\"format\": 1", "\"format\": 2", "field 'format': is 2"},
                    std::array{"\"tp\": 2", "\"tp\": 3", "has 2 entries for 1 x 3 ranks"},
                    std::array{"\"tp\": 2", "\"tp\": -2", "field 'tp'"},
                    std::array{"5.0", "0.0", "has an entry that is no number above 0"},
                    std::array{"\"chunk\": 256", "\"chunk\": 0", "field 'chunk': is 0"},
                    std::array{"\"split\": []", "\"split\": [1]", "has 1 entries for 1 stages"},
                    std::array{"100.5", "\"fast\"", "field 'prefill_tokens_per_s'"},
                    std::array{"{", "", "is not valid JSON"}),
    [](const auto& edit) { return "Edit" + std::to_string(edit.index); });

TEST(Tuned, RefusesAFileThatIsFarTooLarge) {
  const TemporaryFolder folder;
  const auto path = save_tuned(folder.path(), tuned());
  ASSERT_TRUE(path);
  std::ofstream(*path, std::ios::app) << std::string(100'000, ' ');
  const auto found = find_tuned(folder.path(), kSubject);
  ASSERT_FALSE(found);
  EXPECT_THAT(to_string(found.error()), HasSubstr("far too large"));
}

}  // namespace
}  // namespace evener::tune
