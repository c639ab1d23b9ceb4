// SPDX-License-Identifier: MIT
//
// Element types by name, and which of them SDP turns into which.
#ifndef NVDLA_PACKING_PRECISION_HPP
#define NVDLA_PACKING_PRECISION_HPP

#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::detail {

const char* precision_name(Precision precision) noexcept;

// Throws kInvalidArgument for what is no precision.
void check_precision(Precision precision);

// Throws kInvalidArgument for what is no layout.
void check_layout(Layout layout);

// NaN reads as zero where there is one.
void check_nan_to_zero(bool nan_to_zero, Precision precision);

// Returns what SDP's operators work in between a tensor of `in` and one of `out`. Throws
// kInvalidArgument naming both where the hardware has no such way.
Precision sdp_processing(Precision in, Precision out);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_PRECISION_HPP
