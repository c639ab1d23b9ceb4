// SPDX-License-Identifier: MIT
//
// Replacing layers of the CPU by layers of the device.
#ifndef NVDLA_COMPILER_PASSES_EXPAND_HPP
#define NVDLA_COMPILER_PASSES_EXPAND_HPP

#include <optional>

#include "compiler/graph/network_impl.hpp"

namespace nvdla::detail {

// Returns `net` with layers of the device in place of those of the CPU that have such a form on
// `info`, or nothing if there are none. Tensors keep their indices.
std::optional<Network::Impl> expand_cpu_layers(const Network::Impl& net, const DeviceInfo& info);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_EXPAND_HPP
