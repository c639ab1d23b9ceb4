// SPDX-License-Identifier: MIT
//
// Rubik, the inverse of convert_move.cpp; copies of BDMA name positions of the address list, which
// are the saver's.
#include <algorithm>
#include <utility>

#include "loadable/write/save_parts.hpp"

namespace nvdla::loadable {

RubikPart PartMaker::rubik(std::uint32_t i) const {
  const nvdla_rubik& rubik = part_.layers[i].rubik;
  RubikPart part;
  part.op.mode = byte(rubik.mode);
  part.op.precision = byte(rubik.precision);
  part.op.stride_x = byte(rubik.stride_width);
  part.op.stride_y = byte(rubik.stride_height);
  // Strides are 0 unless positions are made of channels.
  const std::uint32_t x = std::max(rubik.stride_width, 1U), y = std::max(rubik.stride_height, 1U);
  DataCube& src = part.surface.src_data;
  DataCube& dst = part.surface.dst_data;
  src = cube(rubik.input, rubik.width, rubik.height, rubik.channels);
  dst = cube(rubik.output, rubik.width * x, rubik.height * y, rubik.channels / (x * y));
  // Planes have a stride of their own.
  if (rubik.mode == NVDLA_RUBIK_MERGE) src.plane_stride = std::exchange(src.surf_stride, 0);
  if (rubik.mode == NVDLA_RUBIK_SPLIT) dst.plane_stride = std::exchange(dst.surf_stride, 0);
  return part;
}

}  // namespace nvdla::loadable
