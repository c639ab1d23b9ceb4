// SPDX-License-Identifier: MIT
//
// Layers that put tensors into others or take them out, as a graph keeps them.
#ifndef NVDLA_COMPILER_GRAPH_PART_NODE_HPP
#define NVDLA_COMPILER_GRAPH_PART_NODE_HPP

#include <cstdint>
#include <vector>

#include "nvdla/operators/concatenation.hpp"

namespace nvdla::detail {

// `Corner` is where a tensor begins inside of another.
struct Corner {
  std::uint32_t channel = 0, line = 0, column = 0;

  friend bool operator==(const Corner&, const Corner&) = default;
};

// `View` says that a tensor has no memory of its own, but lies inside of another.
struct View {
  std::uint32_t whole = 0;  // a tensor, which may be a view itself
  Corner corner;
};

struct ConcatNode {
  Axis axis = Axis::kChannels;
  std::vector<std::uint32_t> parts;  // tensors
  // A pass sets it: each part begins at a multiple of so many channels.
  std::uint32_t alignment = 1;
};

struct SliceNode {
  Corner corner;  // of the output in the input
};

struct PadNode {
  Corner corner;           // of the input in the output
  std::int32_t value = 0;  // an element: an integer, or the bits of fp16
};

// The same elements in the same order, in lines of another width.
struct ReshapeNode {};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_PART_NODE_HPP
