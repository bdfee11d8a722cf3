#include "engine/open_model.h"

#include <string>
#include <system_error>

#include "engine/bundled_model.h"
#include "engine/load_tokenizer.h"
#include "hf/folder_tokenizer.h"

namespace evener::engine {

Result<gguf::File> open_model(const std::filesystem::path& path, const hf::FolderOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return hf::open_folder(path, options);
  return gguf::File::open(path);
}

Result<gguf::File> open_model_or_bundled(const std::filesystem::path& path) {
  if (!path.empty()) return open_model(path);
  return gguf::File::parse(bundled_model(), std::string(kBundledModelName));
}

Result<std::unique_ptr<tokenizer::Tokenizer>> open_tokenizer(const gguf::File& model) {
  return model.is_assembled() ? hf::load_folder_tokenizer(model.name()) : load_tokenizer(model);
}

}  // namespace evener::engine
