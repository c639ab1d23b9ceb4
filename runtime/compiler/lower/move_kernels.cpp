// SPDX-License-Identifier: MIT
#include "compiler/lower/conv.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "packing/cbuf.hpp"

namespace nvdla::detail {
namespace {

std::uint32_t bytes_of(std::uint32_t precision) {
  return precision_bytes(static_cast<Precision>(precision));
}

// Kernels of a group fill atoms, so those before `first` are whole surfaces.
void move_surfaces(nvdla_surface& surface, std::uint32_t first, std::uint32_t lanes) {
  surface.offset += std::uint64_t{first / lanes} * surface.surface_stride;
}

// Returns the bytes that the operands of one element take.
template <typename X>
std::uint32_t element_bytes(const X& x) {
  const std::uint32_t parts = (x.alu != NVDLA_ALU_NONE) + (x.mul != NVDLA_MUL_NONE);
  return parts * x.operand_bytes;
}

template <typename X>
void move_operands(X& x, std::uint32_t first, std::uint32_t lanes) {
  if (x.mode == NVDLA_OPERAND_ELEMENT) return move_surfaces(x.operand, first, lanes);
  x.operand.offset += std::uint64_t{first} * element_bytes(x);
}

template <typename X>
void move_operand_columns(X& x, std::uint32_t first, std::uint32_t lanes) {
  if (x.mode != NVDLA_OPERAND_ELEMENT) return;
  x.operand.offset += std::uint64_t{first} * lanes * element_bytes(x);
}

}  // namespace

void move_kernels(const DeviceInfo& info, nvdla_sdp& sdp, std::uint32_t first) {
  const std::uint32_t lanes = info.atom / bytes_of(sdp.proc_precision);
  move_operands(sdp.x1, first, lanes);
  move_operands(sdp.x2, first, lanes);
  move_operands(sdp.y, first, lanes);
  move_surfaces(sdp.output, first, info.atom / bytes_of(sdp.out_precision));
}

void move_columns(const DeviceInfo& info, nvdla_sdp& sdp, std::uint32_t first) {
  const std::uint32_t lanes = info.atom / bytes_of(sdp.proc_precision);
  move_operand_columns(sdp.x1, first, lanes);
  move_operand_columns(sdp.x2, first, lanes);
  move_operand_columns(sdp.y, first, lanes);
  sdp.output.offset += std::uint64_t{first} * info.atom;
}

void move_kernels(const DeviceInfo& info, nvdla_layer& layer, std::uint32_t first) {
  layer.conv.weights.offset += first * kernel_bytes(info, layer.conv);
  move_kernels(info, layer.sdp, first);
  move_surfaces(layer.pdp.output, first, info.atom / bytes_of(layer.sdp.out_precision));
}

}  // namespace nvdla::detail
