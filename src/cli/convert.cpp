// evener convert: a Hugging Face folder as a GGUF file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/long_work.h"
#include "cli/output_options.h"
#include "gguf/summary.h"
#include "gguf/writer.h"
#include "hf/open_folder.h"
#include "model/loader.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path folder;
  OutputOptions output;
};
Options options;

void add_options(CommandLine& line) {
  line.add("DIR", options.folder, "Hugging Face folder").required();
  add_output_options(line, options.output);
}

Status check_folder() {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(options.folder, ignored)) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "convert",
               .where = options.folder.string(),
               .why = "is a file",
               .remedy = "name the folder that config.json lies in"};
}

// As llama.cpp numbers what most of a file's weights are.
uint32_t file_type_of(const gguf::File& file) {
  std::map<DType, uint64_t> num_weights;
  for (const gguf::Tensor& tensor : file.tensors())
    num_weights[tensor.dtype] += tensor.num_elements();
  switch (std::ranges::max_element(num_weights, {}, [](const auto& entry) {
            return entry.second;
          })->first) {
    case DType::F16:
      return 1;
    case DType::Q4_0:
      return 2;
    case DType::Q4_1:
      return 3;
    case DType::BF16:
      return 32;
    default:
      return 0;
  }
}

gguf::Header header_of(const gguf::File& file) {
  gguf::Header header;
  for (const auto& [key, value] : file.metadata()) header.set(key, value);
  header.set("general.file_type", file_type_of(file));
  header.set("general.quantization_version", uint32_t{2});
  for (const gguf::Tensor& tensor : file.tensors()) {
    header.add_tensor(tensor.name, tensor.dtype, tensor.shape);
  }
  return header;
}

// Writes tensor after tensor; an interruption leaves nothing behind.
class Conversion {
 public:
  Conversion(const gguf::File& file, LongWork& work) : file_(file), work_(work) {
    for (const gguf::Tensor& tensor : file.tensors()) total_ += tensor.size_bytes();
  }

  Status write(gguf::Writer& writer) {
    std::vector<std::byte> room;
    for (const gguf::Tensor& tensor : file_.tensors()) {
      ASSIGN_OR_RETURN(const auto bytes, file_.read(tensor, room));
      RETURN_IF_ERROR(write(writer, bytes));
    }
    return writer.finish();
  }

 private:
  static constexpr size_t kPieceBytes = size_t{16} << 20;

  Status write(gguf::Writer& writer, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
      RETURN_IF_ERROR(writer.write(piece));
      bytes = bytes.subspan(piece.size());
      done_ += piece.size();
      if (work_.advance("converting", static_cast<double>(done_), static_cast<double>(total_)))
        continue;
      return Error{.code = Code::cancelled,
                   .doing = "convert",
                   .where = options.output.path.string(),
                   .why = "interrupted; nothing was written",
                   .remedy = {}};
    }
    return {};
  }

  const gguf::File& file_;
  LongWork& work_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

Result<int> run() {
  LongWork work;
  RETURN_IF_ERROR(check_folder());
  RETURN_IF_ERROR(check_output(options.output, "convert"));
  ASSIGN_OR_RETURN(const gguf::File file,
                   hf::open_folder(options.folder, {.with_tokenizer = true}));
  // That nothing is missing, before anything is written.
  RETURN_IF_ERROR(model::describe_model(file));
  ASSIGN_OR_RETURN(auto writer, gguf::Writer::create(options.output.path, header_of(file)));
  RETURN_IF_ERROR(Conversion(file, work).write(writer));
  work.finish();
  std::error_code ignored;
  fmt::print("{}: {} tensors, {}\n", options.output.path.string(), file.tensors().size(),
             bytes_text(std::filesystem::file_size(options.output.path, ignored)));
  return 0;
}

}  // namespace

extern const Command convert_command;
const Command convert_command = {
    .name = "convert",
    .summary = "Write a Hugging Face folder as a GGUF file",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
