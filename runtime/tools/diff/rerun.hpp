// SPDX-License-Identifier: MIT
//
// The jobs of a record on another device: what memory is there afterwards.
#ifndef NVDLA_TOOLS_DIFF_RERUN_HPP
#define NVDLA_TOOLS_DIFF_RERUN_HPP

#include <string_view>
#include <vector>

#include "tools/replay/dump.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::compare {

// The jobs as a record of `target` would have them: each is played on the memory that the record
// has for it, up to the first that does not end. Throws replay::Error for jobs that cannot be
// played, such as dumps of the driver, and where the target fails.
std::vector<replay::Dump> rerun(const std::vector<replay::Dump>& jobs, std::string_view file,
                                replay::Target& target);

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_RERUN_HPP
