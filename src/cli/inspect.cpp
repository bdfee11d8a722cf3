// evener inspect: what is in a model file, without loading it.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/command.h"
#include "cli/inspect_json.h"
#include "cli/inspect_text.h"
#include "gguf/file.h"
#include "hf/open_folder.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path model;
  bool tensors = false;
  bool json = false;
};
Options options;

void add_options(CommandLine& line) {
  line.add("MODEL", options.model, "GGUF file (of a split one: any part), or Hugging Face folder")
      .required();
  const Option tensors = line.add("--tensors", options.tensors, "list every tensor");
  line.add("--json", options.json, "all metadata and tensors as JSON").excludes(tensors);
}

// Characters that fit a line; 0 when nobody looks: what is piped is not cut.
size_t line_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

Result<int> run() {
  std::error_code ignored;
  ASSIGN_OR_RETURN(const gguf::File file,
                   std::filesystem::is_directory(options.model, ignored)
                       ? hf::open_folder(options.model, {.with_tokenizer = true})
                       : gguf::File::open(options.model));
  const std::string text =
      options.json ? inspect_json(file)
                   : inspect_text(file, {.tensors = options.tensors, .width = line_width()});
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

extern const Command inspect_command;
const Command inspect_command = {
    .name = "inspect",
    .summary = "Show what is in a model file: size, types, context, tokenizer, template",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
