// SPDX-License-Identifier: MIT
//
// Whether a convolution of a network is done in Winograd mode, and how.
#ifndef NVDLA_COMPILER_PASSES_WINOGRAD_PLAN_HPP
#define NVDLA_COMPILER_PASSES_WINOGRAD_PLAN_HPP

#include <optional>

#include "compiler/graph/conv_node.hpp"
#include "nvdla/conv_weights.hpp"
#include "nvdla/device.hpp"

namespace nvdla::detail {

struct WinogradPlan {
  // With paddings that make whole tiles: its output has that many lines and columns, of which the
  // first ones are the layer's.
  nvdla_conv conv = {};
  WinogradDesc desc;
};

// Nothing where a direct convolution is better, or all there is. `result` is the precision of its
// output. Throws if the layer insists on Winograd and cannot have it: kNotAvailable for what the
// device lacks, kInvalidArgument else, saying what is in the way.
std::optional<WinogradPlan> plan_winograd(const DeviceInfo& info, const ConvNode& node,
                                          Precision result);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_WINOGRAD_PLAN_HPP
