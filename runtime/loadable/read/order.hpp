// SPDX-License-Identifier: MIT
//
// From the events between operations to layers in program order: which operations are one layer,
// in which order layers run, and which earlier layers each waits for.
#ifndef NVDLA_LOADABLE_READ_ORDER_HPP
#define NVDLA_LOADABLE_READ_ORDER_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loadable/format/task.hpp"

namespace nvdla::loadable {

// Operations that work on the fly, upstream first, by their index.
struct LayerGroup {
  std::vector<std::uint16_t> operations;
  // Earlier groups, by their place in the order; ascending, none that another implies.
  std::vector<std::uint32_t> waits;
};

// A stable topological order: of what may run, the operation of the lowest index first.
//
// Programmed and enabled events between fused operations vanish, the same between operations of
// one type become program order, all others become a wait. Throws kInvalidArgument for references
// to itself or to nothing, cycles, operations that no chain reaches, and dependency counts that
// are not the number of events; `what` names the task.
std::vector<LayerGroup> order_operations(const DlaTask& task, std::string_view what);

// "conv 0 + sdp 1"
std::string group_name(const DlaTask& task, const LayerGroup& group);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_ORDER_HPP
