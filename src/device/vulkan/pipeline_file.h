#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::device::vulkan {

// What a driver made of kernels, in a file. Drivers trust what they are given: bytes that are not
// as they were written, or for other kernels, another driver or card, are not handed to one.
//
// `identity` says for what they are.
std::optional<std::vector<std::byte>> read_pipeline_file(const std::filesystem::path& path,
                                                         const std::string& identity);
Status write_pipeline_file(const std::filesystem::path& path, const std::string& identity,
                           std::span<const std::byte> bytes);

}  // namespace evener::device::vulkan
