#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tune/trial.h"

namespace evener::tune {

// What was measured and where, for finding it again.
struct Subject {
  std::string machine;       // host name and processor
  std::string model;         // name of its file or folder
  uint64_t model_bytes = 0;  // of its weights
};

// This machine and the model at `path`; an empty path is the bundled model. Error: not_found.
Result<Subject> subject_of(const std::filesystem::path& path);

// The best layout of a subject, as `evener tune` found it.
struct Tuned {
  Subject subject;
  Trial trial;
  Speeds speeds;
  Request request;   // it was the best for
  std::string when;  // "2026-11-30T14:49:00Z"
};

// The fields of a layout and of its speeds, as the file and `evener tune --json` have them.
nlohmann::ordered_json json_of(const Trial& trial);
nlohmann::ordered_json json_of(const Speeds& speeds);

// The file that keeps a layout, and back. Error: corrupt, naming the field. The subject is what was
// asked for: the file is found by it.
std::string text_of(const Tuned& tuned);
Result<Tuned> parse_tuned(std::string_view text, std::string where, const Subject& subject);

// One file a subject in `folder`, which is made where it is missing; replaces an earlier one.
// The result is its path. Errors: permission_denied, unavailable.
Result<std::filesystem::path> save_tuned(const std::filesystem::path& folder, const Tuned& tuned);

// Nothing where the subject was never tuned. Error: corrupt, naming file and field.
Result<std::optional<Tuned>> find_tuned(const std::filesystem::path& folder,
                                        const Subject& subject);

}  // namespace evener::tune
