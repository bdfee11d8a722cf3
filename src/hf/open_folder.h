#pragma once

#include <filesystem>

#include "base/error.h"
#include "gguf/file.h"

namespace evener::hf {

struct FolderOptions {
  bool with_tokenizer = false;  // its metadata too, which loading does not need
};

// A Hugging Face folder (config.json, safetensors files) as the GGUF file that it would make: the
// same keys, names, types, and order of rows. Plain matrices stay where they are, in the mapped
// files; what GGUF has in another form is made when File::read() asks for it. FP8
// matrices become F16, GPTQ and AWQ matrices Q4_0 or Q4_1 where those have their codes, else F16.
//
// Errors: those of safetensors::Folder and read_folder_config; corrupt, unsupported, naming tensor
// and file. Whether all tensors of the family are there is for model::describe_model to say.
//
// Judges: tests/hf.
Result<gguf::File> open_folder(const std::filesystem::path& path,
                               const FolderOptions& options = {});

}  // namespace evener::hf
