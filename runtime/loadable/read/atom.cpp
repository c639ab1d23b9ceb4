// SPDX-License-Identifier: MIT
//
// The configuration that the strides of a task were made for.
#include <cstdint>
#include <optional>

#include "loadable/read/convert.hpp"

namespace nvdla::loadable {
namespace {

// Feature cubes in memory, each of which has lines of whole atoms.
template <typename F>
void for_each_cube(const DlaTask& task, F&& visit) {
  for (const Operation& op : task.operations) {
    if (const auto* conv = std::get_if<ConvPart>(&op.part)) {
      if (conv->op.data_format == kFormatFeature) visit(conv->surface.src_data);
    } else if (const auto* sdp = std::get_if<SdpPart>(&op.part)) {
      visit(sdp->surface.src_data);
      visit(sdp->surface.dst_data);
    } else if (const auto* pdp = std::get_if<PdpPart>(&op.part)) {
      visit(pdp->surface.src_data);
      visit(pdp->surface.dst_data);
    } else if (const auto* cdp = std::get_if<CdpPart>(&op.part)) {
      visit(cdp->surface.src_data);
      visit(cdp->surface.dst_data);
    } else if (const auto* rubik = std::get_if<RubikPart>(&op.part)) {
      if (rubik->op.mode != NVDLA_RUBIK_MERGE) visit(rubik->surface.src_data);
      if (rubik->op.mode != NVDLA_RUBIK_SPLIT) visit(rubik->surface.dst_data);
    }
  }
}

}  // namespace

std::optional<std::uint32_t> implied_atom(const DlaTask& task) {
  for (const std::uint32_t atom : {32U, 16U, 8U}) {
    bool possible = true, packed = false;
    for_each_cube(task, [&](const DataCube& cube) {
      if (!cube.in_memory()) return;
      const std::uint64_t line = std::uint64_t{cube.width} * atom;
      if (cube.line_stride < line || cube.line_stride % atom != 0) possible = false;
      if (cube.line_stride == line) packed = true;
    });
    if (possible && packed) return atom;
  }
  return std::nullopt;
}

}  // namespace nvdla::loadable
