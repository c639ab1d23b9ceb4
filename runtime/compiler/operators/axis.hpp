// SPDX-License-Identifier: MIT
//
// `AxisOf` has the name of an axis, and the members of Shape and Corner that belong to it.
#ifndef NVDLA_COMPILER_OPERATORS_AXIS_HPP
#define NVDLA_COMPILER_OPERATORS_AXIS_HPP

#include "compiler/graph/nodes.hpp"
#include "nvdla/types/shape.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

struct AxisOf {
  const char* name;
  std::uint32_t Shape::*size;
  std::uint32_t Corner::*corner;
};

inline AxisOf axis_of(Axis axis) {
  switch (axis) {
    case Axis::kChannels:
      return {"channels", &Shape::channels, &Corner::channel};
    case Axis::kHeight:
      return {"height", &Shape::height, &Corner::line};
    case Axis::kWidth:
      return {"width", &Shape::width, &Corner::column};
  }
  throw_invalid_argument("axis {} is none of channels (0), height (1), width (2)",
                         static_cast<int>(axis));
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_OPERATORS_AXIS_HPP
