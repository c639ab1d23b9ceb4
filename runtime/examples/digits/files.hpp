// SPDX-License-Identifier: MIT
//
// Reading JSON, and errors that begin with the name of a file.
#ifndef NVDLA_EXAMPLES_DIGITS_FILES_HPP
#define NVDLA_EXAMPLES_DIGITS_FILES_HPP

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace digits {

// Throws nvdla::program::UsageError "path: what".
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what);

// Throws the same when the file is missing, unreadable, empty or malformed.
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_FILES_HPP
