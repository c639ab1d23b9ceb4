// SPDX-License-Identifier: MIT
//
// A script with the contents of all files that it names.
#ifndef NVDLA_TOOLS_REPLAY_LOAD_HPP
#define NVDLA_TOOLS_REPLAY_LOAD_HPP

#include <filesystem>
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

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_LOAD_HPP
