#include "cli/bench_report_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "base/private_file.h"
#include "bench/report.h"
#include "cli/text_style.h"

namespace evener::cli {
namespace {

Error cannot_write(Code code, const std::filesystem::path& path, std::string why) {
  return {.code = code,
          .doing = "write the report",
          .where = path.string(),
          .why = std::move(why),
          .remedy = "name another file"};
}

Status check_file(const std::filesystem::path& path) {
  if (path.empty()) return {};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return cannot_write(Code::invalid_argument, path, "is a folder");
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    return cannot_write(Code::not_found, path, "its folder is not there");
  }
  if (::access(folder.c_str(), W_OK) == 0) return {};
  return cannot_write(Code::permission_denied, path, std::generic_category().message(errno));
}

bench::TerminalStyle terminal_style(bool no_colour) {
  const doctor::TextStyle style = output_style(no_colour);
  bench::TerminalStyle out;
  if (style.width > 0) out.width = static_cast<unsigned>(style.width);
  out.colour = style.colour;
  out.ascii = style.ascii;
  return out;
}

}  // namespace

void add_report_options(CommandLine& line, ReportOptions& options) {
  line.add("--html", options.html, "write the report as one page with its charts to this file");
  line.add("--markdown", options.markdown, "write it as Markdown, for forums");
  line.add("--json", options.json, "write every figure under a stable key");
  line.add("--lang", options.language, "language of the reports").one_of({"en", "zh"});
  line.add("--no-color", options.no_colour, "no colours on the terminal");
}

Status check_report_files(const ReportOptions& options) {
  for (const auto* path : {&options.html, &options.markdown, &options.json}) {
    RETURN_IF_ERROR(check_file(*path));
  }
  return {};
}

Status tell_run(const bench::Run& run, const ReportOptions& options) {
  const auto language =
      options.language == "zh" ? bench::Language::chinese : bench::Language::english;
  fmt::print("{}", bench::report_text(run, language, terminal_style(options.no_colour)));
  constexpr std::string_view kDoing = "write the report";
  if (!options.html.empty()) {
    RETURN_IF_ERROR(write_private_file(options.html, bench::report_html(run, language), kDoing));
  }
  if (!options.markdown.empty()) {
    RETURN_IF_ERROR(
        write_private_file(options.markdown, bench::report_markdown(run, language), kDoing));
  }
  if (options.json.empty()) return {};
  return write_private_file(options.json, bench::report_json(run), kDoing);
}

}  // namespace evener::cli
