// SPDX-License-Identifier: MIT
//
// Golden register cases: case.json with memory blobs beside it.
#ifndef NVDLA_TOOLS_REPLAY_CASE_HPP
#define NVDLA_TOOLS_REPLAY_CASE_HPP

#include <string_view>

#include "tools/replay/script.hpp"

namespace nvdla::replay {

Script parse_case(std::string_view text, std::string_view file, RegisterMap map);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_CASE_HPP
