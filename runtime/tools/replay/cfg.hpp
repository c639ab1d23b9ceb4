// SPDX-License-Identifier: MIT
//
// Traces of the nv_small family: one command a line, `name(argument, ...);`.
#ifndef NVDLA_TOOLS_REPLAY_CFG_HPP
#define NVDLA_TOOLS_REPLAY_CFG_HPP

#include <string_view>

#include "tools/replay/script.hpp"

namespace nvdla::replay {

Script parse_cfg(std::string_view text, std::string_view file, RegisterMap map);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_CFG_HPP
