// SPDX-License-Identifier: MIT
//
// `CpuNode` is an operation that the CPU does between two programs, as a network keeps it.
#ifndef NVDLA_COMPILER_GRAPH_CPU_NODE_HPP
#define NVDLA_COMPILER_GRAPH_CPU_NODE_HPP

#include "host_ops/operation.hpp"

namespace nvdla::detail {

struct CpuNode {
  cpu::Operation operation;
  // The operation is an average that devices with int16 and operator Y compute in steps of sums,
  // with the same results: see add_sums_on_device().
  bool sums_on_device = false;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_CPU_NODE_HPP
