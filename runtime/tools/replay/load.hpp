// SPDX-License-Identifier: MIT
//
// Cases and traces are found, and read with the contents of all files that they name; none of
// these has to be what its name says.
#ifndef NVDLA_TOOLS_REPLAY_LOAD_HPP
#define NVDLA_TOOLS_REPLAY_LOAD_HPP

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "tools/replay/dump.hpp"
#include "tools/replay/script.hpp"

namespace nvdla::replay {

// Throws Error for anything wrong with the case, trace or dump or a file beside it. A file that may
// be missing and is becomes a warning.
Script load_script(const std::filesystem::path& path, RegisterMap map);

// The job of a dump, the jobs of a record. Throws Error.
std::vector<Dump> read_jobs(const std::filesystem::path& path);

// The configuration that a dump or record names; for cases and traces configuration_of().
const nvdla_hw* configuration_in(const std::filesystem::path& path);

// Contents of a regular file of at most `limit` bytes. Throws Error; nullopt if there is no file.
std::optional<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit);

// The format that a file name tells; nullopt if it is neither a case nor a trace.
std::optional<Kind> kind_of(const std::filesystem::path& path);

// All cases and traces of the paths, folders searched recursively, sorted, each once. Throws Error
// for a path that is not there, cannot be read or is a file of another kind.
std::vector<std::filesystem::path> find_scripts(const std::vector<std::string>& paths);

// The configuration whose name is that of a folder in the path, the innermost; nullptr if none is.
const nvdla_hw* configuration_of(const std::filesystem::path& path);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_LOAD_HPP
