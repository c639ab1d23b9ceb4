// SPDX-License-Identifier: MIT
//
// Reading a whole file, and errors that begin with its name.
#ifndef NVDLA_EXAMPLES_DIGITS_FILES_HPP
#define NVDLA_EXAMPLES_DIGITS_FILES_HPP

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace digits {

// Throws std::runtime_error "path: what".
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what);

// Both throw std::runtime_error when the file is missing, unreadable, empty or malformed.
std::string read_file(const std::filesystem::path& path);
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_FILES_HPP
