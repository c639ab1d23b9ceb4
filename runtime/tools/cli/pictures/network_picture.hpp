// SPDX-License-Identifier: MIT
#ifndef NVDLA_TOOLS_CLI_PICTURES_NETWORK_PICTURE_HPP
#define NVDLA_TOOLS_CLI_PICTURES_NETWORK_PICTURE_HPP

#include <string>
#include <string_view>

#include "tools/cli/pictures/network_shape.hpp"

namespace nvdla::cli {

// Layers as boxes, each below those whose results it takes.
std::string network_picture(const NetworkShape& network, std::string_view title);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_NETWORK_PICTURE_HPP
