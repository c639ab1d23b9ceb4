// SPDX-License-Identifier: MIT
//
// A run as a picture: units over time, and buffers over the same time.
#ifndef NVDLA_TOOLS_CLI_PICTURES_PROFILE_PICTURE_HPP
#define NVDLA_TOOLS_CLI_PICTURES_PROFILE_PICTURE_HPP

#include <drm/nvdla_layer.h>

#include <span>
#include <string>
#include <string_view>

#include "tools/cli/pictures/program_shape.hpp"

namespace nvdla::cli {

// SVG. `times` has an entry for each layer of `shape`.
std::string profile_picture(const ProgramShape& shape, std::span<const nvdla_layer_stats> times,
                            std::string_view title);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_PROFILE_PICTURE_HPP
