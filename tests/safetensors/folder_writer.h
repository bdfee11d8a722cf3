#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.h"
#include "safetensors/folder.h"
#include "safetensors/raw_file.h"

namespace evener::safetensors {

// A folder of one test with the tensors that it asks for.
class FolderWriter {
 public:
  template <class T>
  void add(std::string_view name, std::string_view dtype, const std::vector<uint64_t>& shape,
           const std::vector<T>& numbers) {
    const size_t begin = data_.size();
    data_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
    header_ += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                           header_.empty() ? "" : ",", name, dtype, fmt::join(shape, ","), begin,
                           data_.size());
  }

  void write_file(const std::string& file, std::string_view text) const {
    std::ofstream(folder_.path() / file, std::ios::binary) << text;
  }

  // Writes model.safetensors.
  void write() const { write_file("model.safetensors", raw_file("{" + header_ + "}", 0) + data_); }

  Folder open() const {
    write();
    auto folder = Folder::open(folder_.path());
    EXPECT_TRUE(folder.has_value()) << to_string(folder.error());
    return *std::move(folder);
  }

  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::string header_;
  std::string data_;
};

}  // namespace evener::safetensors
