// SPDX-License-Identifier: MIT
#include "device/layer_outputs.hpp"

#include <algorithm>

#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// Resolves the cube of a surface. A stride that a dimension of size 1 never uses may have any value
// in the descriptor; it is replaced by the packed one.
TensorDesc tensor_of(const nvdla_surface& surface, const Shape& shape, std::uint32_t precision,
                     std::uint32_t atom, bool planar = false) {
  TensorDesc desc;
  desc.shape = shape;
  desc.precision = static_cast<Precision>(precision);
  desc.atom = atom;
  desc.planar = planar;
  if (shape.height > 1) desc.line_stride = surface.line_stride;
  if (desc.surfaces() > 1) desc.surface_stride = surface.surface_stride;
  if (shape.batch > 1) desc.batch_stride = surface.batch_stride;
  return resolve(desc);
}

std::uint32_t pooled(std::uint32_t size, std::uint32_t before, std::uint32_t after,
                     std::uint32_t kernel, std::uint32_t stride) {
  return (before + size + after - kernel) / stride + 1;
}

Shape pooled(const nvdla_pdp& p, Shape shape) {
  shape.width = pooled(shape.width, p.pad_left, p.pad_right, p.kernel_width, p.stride_width);
  shape.height = pooled(shape.height, p.pad_top, p.pad_bottom, p.kernel_height, p.stride_height);
  return shape;
}

LayerOutput rubik_output(const nvdla_rubik& r, std::uint32_t atom) {
  Shape shape = {.channels = r.channels, .height = r.height, .width = r.width};
  if (r.mode == NVDLA_RUBIK_CONTRACT) {
    shape.channels /= r.stride_width * r.stride_height;
    shape.height *= r.stride_height;
    shape.width *= r.stride_width;
  }
  return {"rubik", r.output.slot, r.output.offset,
          tensor_of(r.output, shape, r.precision, atom, r.mode == NVDLA_RUBIK_SPLIT)};
}

// Atoms in lines and surfaces are a cube of int8, which has no more than kMaxSide of anything.
void add_transfer(const nvdla_transfer& t, std::uint32_t atom, std::vector<LayerOutput>& outputs) {
  const std::uint32_t columns = t.line_bytes / atom;
  const std::uint32_t most = kMaxSide / atom;
  for (std::uint32_t surface = 0; surface < t.surfaces; surface += most) {
    for (std::uint32_t column = 0; column < columns; column += kMaxSide) {
      const Shape shape = {.channels = std::min(most, t.surfaces - surface) * atom,
                           .height = t.lines,
                           .width = std::min(kMaxSide, columns - column)};
      nvdla_surface part = t.destination;
      part.offset += std::uint64_t{surface} * part.surface_stride + std::uint64_t{column} * atom;
      outputs.push_back(
          {"bdma", part.slot, part.offset, tensor_of(part, shape, NVDLA_PRECISION_INT8, atom)});
    }
  }
}

// Calls line(first byte in the slot, bytes) for all whole atoms that the output has.
template <typename Line>
void for_each_line(const LayerOutput& output, const Line& line) {
  const TensorDesc& d = output.desc;
  const std::uint64_t bytes =
      d.planar ? arith::round_up(std::uint64_t{d.shape.width} * d.element_bytes(), d.atom)
               : std::uint64_t{d.shape.width} * d.atom;
  for (std::uint32_t n = 0; n < d.shape.batch; ++n) {
    for (std::uint32_t s = 0; s < d.surfaces(); ++s) {
      for (std::uint32_t y = 0; y < d.shape.height; ++y) {
        line(output.offset + std::uint64_t{n} * d.batch_stride +
                 std::uint64_t{s} * d.surface_stride + std::uint64_t{y} * d.line_stride,
             bytes);
      }
    }
  }
}

}  // namespace

std::vector<LayerOutput> layer_outputs(const ProgramDesc& program, std::uint32_t index,
                                       std::uint32_t atom) {
  const nvdla_layer& layer = program.layers[index];
  const nvdla_sdp& sdp = layer.sdp;
  const nvdla_pdp& pdp = layer.pdp;
  Shape shape = {.channels = sdp.channels, .height = sdp.height, .width = sdp.width};
  std::vector<LayerOutput> outputs;
  switch (layer.kind) {
    case NVDLA_LAYER_CONV_SDP:
    case NVDLA_LAYER_CONV_SDP_PDP:
      shape = conv_output(layer.conv);
      [[fallthrough]];
    case NVDLA_LAYER_SDP:
    case NVDLA_LAYER_SDP_PDP:
      if (sdp.y.alu == NVDLA_ALU_EQUAL) break;
      if (layer.kind == NVDLA_LAYER_CONV_SDP || layer.kind == NVDLA_LAYER_SDP) {
        outputs.push_back({"sdp", sdp.output.slot, sdp.output.offset,
                           tensor_of(sdp.output, shape, sdp.out_precision, atom)});
      } else {
        outputs.push_back({"pdp", pdp.output.slot, pdp.output.offset,
                           tensor_of(pdp.output, pooled(pdp, shape), sdp.out_precision, atom)});
      }
      break;
    case NVDLA_LAYER_PDP:
      shape = {.channels = pdp.channels, .height = pdp.height, .width = pdp.width};
      outputs.push_back({"pdp", pdp.output.slot, pdp.output.offset,
                         tensor_of(pdp.output, pooled(pdp, shape), pdp.precision, atom)});
      break;
    case NVDLA_LAYER_CDP:
      shape = {
          .channels = layer.cdp.channels, .height = layer.cdp.height, .width = layer.cdp.width};
      outputs.push_back({"cdp", layer.cdp.output.slot, layer.cdp.output.offset,
                         tensor_of(layer.cdp.output, shape, layer.cdp.precision, atom)});
      break;
    case NVDLA_LAYER_RUBIK:
      outputs.push_back(rubik_output(layer.rubik, atom));
      break;
    default:
      for (std::uint32_t i = 0; i < layer.bdma.num_transfers; ++i)
        add_transfer(program.transfers[layer.bdma.first_transfer + i], atom, outputs);
      break;
  }
  return outputs;
}

void WrittenBytes::add(const LayerOutput& output) {
  std::vector<bool>& bytes = slots_[output.slot];
  const std::uint64_t end = output.offset + tensor_bytes(output.desc);
  if (bytes.size() < end) bytes.resize(static_cast<std::size_t>(end));
  for_each_line(output, [&](std::uint64_t at, std::uint64_t count) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, true);
  });
}

bool WrittenBytes::any_of(const LayerOutput& output) const {
  bool any = false;
  for_each_line(output, [&](std::uint64_t at, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && !any; ++i) any = contains(output.slot, at + i);
  });
  return any;
}

bool WrittenBytes::contains(std::uint32_t slot, std::uint64_t at) const {
  const auto found = slots_.find(slot);
  return found != slots_.end() && at < found->second.size() &&
         found->second[static_cast<std::size_t>(at)];
}

}  // namespace nvdla::detail
