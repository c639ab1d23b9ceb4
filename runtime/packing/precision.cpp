// SPDX-License-Identifier: MIT
#include "packing/precision.hpp"

#include "support/check.hpp"

namespace nvdla::detail {

const char* precision_name(Precision precision) noexcept {
  switch (precision) {
    case Precision::kInt8:
      return "int8";
    case Precision::kInt16:
      return "int16";
    case Precision::kFp16:
      return "fp16";
  }
  return "unknown";
}

void check_precision(Precision precision) {
  if (precision != Precision::kInt8 && precision != Precision::kInt16 &&
      precision != Precision::kFp16) {
    throw_invalid_argument("precision {} is none of int8 (0), int16 (1), fp16 (2)",
                           static_cast<std::uint32_t>(precision));
  }
}

void check_layout(Layout layout) {
  if (layout != Layout::kNchw && layout != Layout::kNhwc) {
    throw_invalid_argument("layout {} is none of NCHW (0), NHWC (1)", static_cast<int>(layout));
  }
}

void check_nan_to_zero(bool nan_to_zero, Precision precision) {
  if (nan_to_zero && precision != Precision::kFp16) {
    throw_invalid_argument("nan_to_zero with an input in {}: only fp16 has NaN",
                           precision_name(precision));
  }
}

Precision sdp_processing(Precision in, Precision out) {
  if (in == out) return in;
  const bool int8 = in == Precision::kInt8 || out == Precision::kInt8;
  if (int8 && (in == Precision::kFp16 || out == Precision::kFp16)) {
    throw_invalid_argument("no layer makes {} of {}: go through int16, in two layers",
                           precision_name(out), precision_name(in));
  }
  return int8 ? Precision::kInt8 : in;
}

}  // namespace nvdla::detail
