#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/snapshot.h"

namespace evener::host {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// All files below tests/data/host/FOLDER, by their path inside it.
inline Snapshot snapshot_in(const std::string& folder) {
  const std::filesystem::path root = std::filesystem::path(EVENER_TEST_DATA) / "host" / folder;
  Snapshot snapshot{.files = {}, .origin = folder};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    snapshot.files[entry.path().lexically_relative(root).generic_string()] = text_of(entry.path());
  }
  EXPECT_FALSE(snapshot.files.empty()) << root;
  return snapshot;
}

inline HostFacts facts_in(const Snapshot& snapshot) {
  auto facts = facts_of(snapshot);
  EXPECT_TRUE(facts.has_value()) << to_string(facts.error());
  return facts ? *std::move(facts) : HostFacts{};
}

inline HostFacts facts_of_pasted(std::string_view text) {
  const auto snapshot = snapshot_of_text(text, "pasted text");
  EXPECT_TRUE(snapshot.has_value()) << to_string(snapshot.error());
  return snapshot ? facts_in(*snapshot) : HostFacts{};
}

inline const Function& function_at(const HostFacts& facts, const std::string& name) {
  static const Function kNone;
  const Function* function = find_function(facts, name);
  EXPECT_NE(function, nullptr) << name;
  return function != nullptr ? *function : kNone;
}

inline const Bar* bar_of(const Function& function, unsigned index) {
  for (const Bar& bar : function.bars) {
    if (bar.index == index) return &bar;
  }
  return nullptr;
}

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kGiB = uint64_t{1} << 30;

}  // namespace evener::host
