#include "tune/tuned.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <xxhash.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/json_fields.h"
#include "base/private_file.h"
#include "base/text.h"
#include "device/cpu/cpu_node.h"

namespace evener::tune {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFormat = 1;
constexpr size_t kFileBytesMax = 64 * 1024;
constexpr size_t kRanksMax = 64;
constexpr size_t kLayersMax = 4096;
constexpr size_t kChunkMax = 8192;
constexpr size_t kTextMax = 300;
constexpr const char* kReading = "read the tuned layout";
constexpr const char* kAnew = "delete the file, or run evener tune again";

std::string processor_name() {
  const auto nodes = device::cpu::read_cpu_nodes();
  const bool is_known = nodes && !nodes->empty() && !nodes->front().model.empty();
  return is_known ? nodes->front().model : "unknown processor";
}

std::string machine_name() {
  utsname names{};
  const std::string host = ::uname(&names) == 0 ? names.nodename : "unknown host";
  return fmt::format("{}, {}", printable(host, kTextMax / 3),
                     printable(processor_name(), kTextMax / 3));
}

Error cannot_see(const fs::path& path, const std::error_code& error) {
  return {.code = Code::not_found,
          .doing = "look for a tuned layout",
          .where = path.string(),
          .why = error.message(),
          .remedy = {}};
}

// Of a folder, the files in it.
Result<uint64_t> size_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const uint64_t size = fs::file_size(path, error);
    if (error) return cannot_see(path, error);
    return size;
  }
  uint64_t size = 0;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".safetensors") size += entry->file_size(ignored);
  }
  if (error) return cannot_see(path, error);
  return size;
}

fs::path file_of(const fs::path& folder, const Subject& subject) {
  const std::string text =
      fmt::format("{}\n{}\n{}", subject.machine, subject.model, subject.model_bytes);
  return folder / fmt::format("{:016x}.json", XXH3_64bits(text.data(), text.size()));
}

Result<std::vector<double>> ratio_of(const json::Fields& fields, size_t num_shards) {
  const json::Value* const value = fields.find("ratio");
  if (value == nullptr || !value->is_array()) return fields.error("ratio", "is no list");
  if (!value->empty() && value->size() != num_shards) {
    return fields.error("ratio",
                        fmt::format("has {} entries, tp is {}", value->size(), num_shards));
  }
  std::vector<double> ratio;
  for (const json::Value& entry : *value) {
    if (!entry.is_number() || !(entry.get<double>() > 0) || !std::isfinite(entry.get<double>())) {
      return fields.error("ratio", "has an entry that is no number above 0");
    }
    ratio.push_back(entry.get<double>());
  }
  return ratio;
}

Result<Trial> trial_of(const json::Fields& fields) {
  Trial trial;
  ASSIGN_OR_RETURN(const auto devices, fields.get_strings("devices"));
  for (const std::string_view device : devices) {
    if (device.size() > kTextMax) return fields.error("devices", "has an entry that is too long");
    trial.devices.emplace_back(device);
  }
  ASSIGN_OR_RETURN(trial.num_shards, fields.get_uint("tp", kRanksMax));
  ASSIGN_OR_RETURN(trial.num_stages, fields.get_uint("stages", kRanksMax));
  if (trial.num_shards * trial.num_stages != trial.devices.size() || trial.devices.empty()) {
    return fields.error("devices",
                        fmt::format("has {} entries for {} x {} ranks", trial.devices.size(),
                                    trial.num_stages, trial.num_shards));
  }
  ASSIGN_OR_RETURN(const auto borders, fields.get_uints("split", kLayersMax));
  trial.borders.assign(borders.begin(), borders.end());
  if (!trial.borders.empty() && trial.borders.size() + 1 != trial.num_stages) {
    return fields.error("split", fmt::format("has {} entries for {} stages", trial.borders.size(),
                                             trial.num_stages));
  }
  ASSIGN_OR_RETURN(trial.ratio, ratio_of(fields, trial.num_shards));
  ASSIGN_OR_RETURN(trial.chunk, fields.get_uint("chunk", kChunkMax));
  if (trial.chunk == 0) return fields.error("chunk", "is 0");
  return trial;
}

}  // namespace

Result<Tuned> parse_tuned(std::string_view text, std::string where, const Subject& subject) {
  ASSIGN_OR_RETURN(const json::Value document, json::parse(text, where));
  ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(document, std::move(where)));
  ASSIGN_OR_RETURN(const uint64_t format, fields.get_uint("format"));
  if (format != kFormat) {
    return fields.error("format", fmt::format("is {}, this program writes {}", format, kFormat));
  }
  Tuned tuned{.subject = subject, .trial = {}, .speeds = {}, .request = {}, .when = {}};
  ASSIGN_OR_RETURN(tuned.trial, trial_of(fields));
  ASSIGN_OR_RETURN(tuned.speeds.prefill, fields.get_number("prefill_tokens_per_s"));
  ASSIGN_OR_RETURN(tuned.speeds.decode, fields.get_number("decode_tokens_per_s"));
  ASSIGN_OR_RETURN(tuned.speeds.decode_streams, fields.get_number("decode_streams_tokens_per_s"));
  ASSIGN_OR_RETURN(tuned.request.prompt_tokens, fields.get_uint("prompt_tokens"));
  ASSIGN_OR_RETURN(tuned.request.answer_tokens, fields.get_uint("answer_tokens"));
  ASSIGN_OR_RETURN(const std::string_view when, fields.get_string("when"));
  tuned.when = printable(when, kTextMax);
  return tuned;
}

nlohmann::ordered_json json_of(const Trial& trial) {
  return {{"devices", trial.devices}, {"tp", trial.num_shards}, {"stages", trial.num_stages},
          {"split", trial.borders},   {"ratio", trial.ratio},   {"chunk", trial.chunk}};
}

nlohmann::ordered_json json_of(const Speeds& speeds) {
  return {{"prefill_tokens_per_s", speeds.prefill},
          {"decode_tokens_per_s", speeds.decode},
          {"decode_streams_tokens_per_s", speeds.decode_streams}};
}

std::string text_of(const Tuned& tuned) {
  nlohmann::ordered_json json = {{"format", kFormat},
                                 {"machine", tuned.subject.machine},
                                 {"model", tuned.subject.model},
                                 {"model_bytes", tuned.subject.model_bytes},
                                 {"when", tuned.when}};
  json.update(json_of(tuned.trial));
  json.update(json_of(tuned.speeds));
  json["prompt_tokens"] = tuned.request.prompt_tokens;
  json["answer_tokens"] = tuned.request.answer_tokens;
  return json.dump(2) + "\n";
}

Result<Subject> subject_of(const fs::path& path) {
  Subject subject{.machine = machine_name(), .model = "", .model_bytes = 0};
  if (path.empty()) return subject;
  const bool is_named = path.has_filename();  // "folder/" has no name behind its last slash
  subject.model = (is_named ? path : path.parent_path()).filename().string();
  ASSIGN_OR_RETURN(subject.model_bytes, size_of(path));
  return subject;
}

Result<fs::path> save_tuned(const fs::path& folder, const Tuned& tuned) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Error{.code = Code::permission_denied,
                 .doing = "keep the tuned layout",
                 .where = folder.string(),
                 .why = error.message(),
                 .remedy = "set XDG_STATE_HOME to a folder that may be written"};
  }
  const fs::path path = file_of(folder, tuned.subject);
  RETURN_IF_ERROR(write_private_file(path, text_of(tuned), "keep the tuned layout"));
  return path;
}

Result<std::optional<Tuned>> find_tuned(const fs::path& folder, const Subject& subject) {
  const fs::path path = file_of(folder, subject);
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::optional<Tuned>();
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    return Error{.code = Code::corrupt,
                 .doing = kReading,
                 .where = path.string(),
                 .why = "it is far too large",
                 .remedy = kAnew};
  }
  auto tuned = parse_tuned(text, path.string(), subject);
  if (tuned) return std::optional<Tuned>(*std::move(tuned));
  Error error = std::move(tuned).error();
  error.doing = kReading;
  error.remedy = kAnew;
  return error;
}

}  // namespace evener::tune
