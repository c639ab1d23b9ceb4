// SPDX-License-Identifier: MIT
//
// A run as a trace that Perfetto and chrome://tracing open.
#ifndef NVDLA_TOOLS_CLI_PROFILE_TRACE_HPP
#define NVDLA_TOOLS_CLI_PROFILE_TRACE_HPP

#include <span>
#include <string>
#include <string_view>

#include "tools/cli/layer_profile.hpp"

namespace nvdla::cli {

// JSON, trace event format. Two tracks for each unit, one for each of its register groups: layers
// take them in turn, and one may be programmed while the other works. `device` is what it ran on.
std::string profile_trace(std::span<const LayerProfile> layers, std::string_view device);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PROFILE_TRACE_HPP
