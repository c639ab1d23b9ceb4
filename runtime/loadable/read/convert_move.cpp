// SPDX-License-Identifier: MIT
//
// Rubik and BDMA only move elements.
#include <tuple>

#include "loadable/read/task_converter.hpp"

namespace nvdla::loadable {

void TaskConverter::convert(const RubikPart& part, nvdla_rubik& rubik) {
  need(NVDLA_HW_RUBIK, "Rubik");
  const RubikOp& op = part.op;
  const DataCube& src = part.surface.src_data;
  const DataCube& dst = part.surface.dst_data;
  if (op.mode > NVDLA_RUBIK_MERGE) throw_error("mode {} is not in 0..2", op.mode);
  rubik.mode = op.mode;
  rubik.precision = precision(op.precision, "precision");
  rubik.width = src.width;
  rubik.height = src.height;
  rubik.channels = src.channel;
  rubik.input = surface(src, NVDLA_SLOT_READ, "src_data");
  rubik.output = surface(dst, NVDLA_SLOT_WRITE, "dst_data");
  std::uint32_t x = 1, y = 1;
  if (op.mode == NVDLA_RUBIK_CONTRACT) {
    rubik.stride_width = x = op.stride_x;
    rubik.stride_height = y = op.stride_y;
  }
  // Planes are stepped over by what a loadable calls a plane stride.
  if (op.mode == NVDLA_RUBIK_SPLIT) rubik.output.surface_stride = dst.plane_stride;
  if (op.mode == NVDLA_RUBIK_MERGE) rubik.input.surface_stride = src.plane_stride;
  if (dst.width != src.width * x || dst.height != src.height * y ||
      dst.channel * x * y != src.channel) {
    throw_error("dst_data {}x{}x{} does not follow from src_data {}x{}x{}", dst.channel, dst.height,
                dst.width, src.channel, src.height, src.width);
  }
}

void TaskConverter::convert(const BdmaPart& part, nvdla_bdma& bdma) {
  need(NVDLA_HW_BDMA, "BDMA");
  const BdmaSurface& s = part.surface;
  if (part.op.num_transfers != s.num_transfers) {
    throw_error("num_transfers is {} in the operation, {} in the surfaces", part.op.num_transfers,
                s.num_transfers);
  }
  if (s.num_transfers == 0 || s.num_transfers > kMaxTransfers) {
    throw_error("num_transfers {} is not in 1..{}", s.num_transfers, kMaxTransfers);
  }
  bdma.first_transfer = static_cast<std::uint32_t>(program_.transfers.size());
  bdma.num_transfers = s.num_transfers;
  for (std::size_t i = 0; i < s.num_transfers; ++i) {
    const BdmaTransfer& from = s.transfers[i];
    nvdla_transfer t = {};
    t.line_bytes = from.line_size;
    t.lines = from.line_repeat;
    t.surfaces = from.surface_repeat;
    std::tie(t.source.slot, t.source.offset) =
        place(s.source_type, from.source_address, 0, NVDLA_SLOT_READ, "source_address");
    t.source.line_stride = from.source_line;
    t.source.surface_stride = from.source_surface;
    std::tie(t.destination.slot, t.destination.offset) = place(
        s.destination_type, from.destination_address, 0, NVDLA_SLOT_WRITE, "destination_address");
    t.destination.line_stride = from.destination_line;
    t.destination.surface_stride = from.destination_surface;
    program_.transfers.push_back(t);
  }
}

}  // namespace nvdla::loadable
