// What a Hugging Face folder lacks, or has in another shape than config.json says, is named as the
// folder calls it.
#include <gtest/gtest.h>

#include <string>

#include "hf/golden_folder.h"
#include "hf/open_folder.h"
#include "model/loader.h"

namespace evener::model {
namespace {

using hf::test::Edits;
using hf::test::GoldenFolder;

// "" if the folder's tensors fit.
std::string complaint(const GoldenFolder& golden) {
  const auto folder = hf::open_folder(golden.path());
  if (!folder) return "open: " + to_string(folder.error());
  const auto model = describe_model(*folder);
  return model ? "" : to_string(model.error());
}

TEST(FolderOfAFamily, HasTheTensorsOfItsModel) {
  for (const char* name :
       {"llama", "llama-bias", "llama-moe", "qwen3", "qwen3moe", "qwen3next-ssm-in", "qwen35",
        "qwen35-equal-heads", "qwen35moe", "qwen35moe-fused"}) {
    EXPECT_EQ(complaint(GoldenFolder(name)), "") << name;
  }
}

TEST(FolderOfAFamily, NamesWhatIsMissing) {
  const GoldenFolder golden("qwen3", {.left_out = {"model.layers.1.mlp.up_proj.weight"}});
  EXPECT_EQ(complaint(golden),
            "cannot load model: " + golden.path().string() +
                ": tensors do not fit: 'model.layers.1.mlp.up_proj.weight' (blk.1.ffn_up.weight) "
                "is missing");
}

TEST(FolderOfAFamily, NamesWhatConfigJsonSaysOtherwise) {
  const GoldenFolder golden("qwen3");
  nlohmann::json config = golden.config();
  config["intermediate_size"] = 64;
  golden.writer.write_file("config.json", config.dump());
  const std::string text = complaint(golden);
  EXPECT_NE(text.find("'model.layers.0.mlp.gate_proj.weight' (blk.0.ffn_gate.weight) has shape ["),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(", the metadata ask for ["), std::string::npos) << text;
}

TEST(FolderOfAFamily, NamesLayersThatAreNotThere) {
  const GoldenFolder golden("qwen3");
  nlohmann::json config = golden.config();
  config["num_hidden_layers"] = config["num_hidden_layers"].get<int>() + 1;
  golden.writer.write_file("config.json", config.dump());
  const std::string text = complaint(golden);
  const std::string missing =
      "'model.layers.2.mlp.down_proj.weight' (blk.2.ffn_down.weight) is missing";
  EXPECT_NE(text.find(missing), std::string::npos) << text;
}

}  // namespace
}  // namespace evener::model
