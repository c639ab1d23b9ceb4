// SPDX-License-Identifier: MIT
//
// A look-up table against its function, as a picture.
#ifndef NVDLA_TOOLS_CLI_PICTURES_LUT_PICTURE_HPP
#define NVDLA_TOOLS_CLI_PICTURES_LUT_PICTURE_HPP

#include <optional>
#include <string>
#include <vector>

namespace nvdla::cli {

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

std::string lut_picture(const LutCurves& curves);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_PICTURES_LUT_PICTURE_HPP
