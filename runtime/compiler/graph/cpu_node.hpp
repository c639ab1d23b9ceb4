// SPDX-License-Identifier: MIT
//
// `CpuNode` is an operation that the CPU does between two programs, as a network keeps it.
#ifndef NVDLA_COMPILER_GRAPH_CPU_NODE_HPP
#define NVDLA_COMPILER_GRAPH_CPU_NODE_HPP

#include <functional>

#include "cpu/operation.hpp"
#include "nvdla/network.hpp"

namespace nvdla::detail {

struct CpuNode {
  cpu::Operation operation;
  // Adds layers that do the same on devices with int16 and operator Y, if there are any, to a
  // network that has the input; returns their output.
  std::function<Tensor(Network::Impl& net, Tensor input)> on_device = {};
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_CPU_NODE_HPP
