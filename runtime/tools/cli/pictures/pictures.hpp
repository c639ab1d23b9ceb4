// SPDX-License-Identifier: MIT
//
// The pictures that commands draw, in SVG.
#ifndef NVDLA_TOOLS_CLI_PICTURES_PICTURES_HPP
#define NVDLA_TOOLS_CLI_PICTURES_PICTURES_HPP

#include <drm/nvdla_layer.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/pictures/network_shape.hpp"
#include "tools/cli/pictures/program_shape.hpp"

namespace nvdla::cli {

// Draws layers as boxes, each below those whose results it takes.
std::string network_picture(const NetworkShape& network, std::string_view title);

// Draws a run: units over time, and buffers over the same time. `times` has an entry for each layer
// of `shape`.
std::string profile_picture(const ProgramShape& shape, std::span<const nvdla_layer_stats> times,
                            std::string_view title);

struct LutPoint {
  double x = 0;
  double result = 0;
  std::optional<double> wanted;
  double error = 0;  // of the result, in steps
};

struct LutCurves {
  std::string title, about;
  std::string x_label, y_label;
  std::string error_label;        // empty: there is no function, and no error
  std::vector<LutPoint> points;   // by x, two at least
  std::optional<LutPoint> worst;  // marked if it is among them
};

// Draws a look-up table against its function.
std::string lut_picture(const LutCurves& curves);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_PICTURES_HPP
