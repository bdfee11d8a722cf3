#pragma once

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "vocabularies.h"

namespace evener::tokenizer::test {

inline std::vector<std::string> read_lines(std::string_view name) {
  std::ifstream file(data_file(name), std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The escapes of tests/peer/tokenizer_corpus.py: backslash, \n, \xNN.
inline std::string unescape(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
    } else if (line[i + 1] == 'x') {
      unsigned value = 0;
      std::from_chars(line.data() + i + 2, line.data() + i + 4, value, 16);
      text += char(value);
      i += 3;
    } else {
      text += line[++i] == 'n' ? '\n' : '\\';
    }
  }
  return text;
}

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += char(value);
  }
  return bytes;
}

inline Ids read_ids(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Ids ids;
  for (TokenId id = 0; stream >> id;) ids.push_back(id);
  return ids;
}

inline const std::vector<std::string>& corpus_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> read;
    for (const std::string& line : read_lines("texts.txt")) read.push_back(unescape(line));
    return read;
  }();
  return texts;
}

}  // namespace evener::tokenizer::test
