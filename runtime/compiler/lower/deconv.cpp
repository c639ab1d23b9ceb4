// SPDX-License-Identifier: MIT
//
// Lowering deconvolutions: a convolution for each phase, and what puts their results side by side.
//
// Lines of a phase are written where they belong, a multiple of the line stride apart. Columns lie
// atom by atom, so those of several phases go to a scratch buffer first: as blocks of channels that
// Rubik contracts, or without Rubik as one cube for each column phase, whose columns SDP copies.
#include <algorithm>
#include <utility>

#include "compiler/lower/conv.hpp"
#include "compiler/lower/lowering.hpp"
#include "compiler/lower/sdp.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

nvdla_conv phase_conv(const DeconvNode& part, std::uint32_t y, std::uint32_t x) {
  const DeconvolutionPhase phase = deconvolution_phase(part.desc, y, x);
  TensorDesc input;
  input.shape = part.desc.input;
  input.shape.batch = 1;  // one cube a layer
  input.shape.height = phase.height;
  input.shape.width = phase.width;
  input.precision = part.desc.weights.precision;
  WeightsDesc weights = part.desc.weights;
  weights.kernel_height = phase.kernel_height;
  weights.kernel_width = phase.kernel_width;
  nvdla_conv conv = make_conv(input, weights);
  conv.pad_top = phase.pad_top;
  conv.pad_bottom = phase.pad_bottom;
  conv.pad_left = phase.pad_left;
  conv.pad_right = phase.pad_right;
  conv.pad_value = part.zero_point;
  conv.clip_truncate = part.accumulator_shift;
  if (part.nan_to_zero) conv.flags |= NVDLA_CONV_NAN_TO_ZERO;
  return conv;
}

void move(nvdla_surface& surface, std::uint64_t bytes) { surface.offset += bytes; }

// SDP that copies a cube of one column.
nvdla_sdp copy_sdp(const TensorDesc& out, std::uint32_t height, std::uint32_t channels) {
  nvdla_sdp sdp = make_sdp();
  const auto precision = static_cast<std::uint32_t>(out.precision);
  sdp.in_precision = sdp.proc_precision = sdp.out_precision = precision;
  if (out.precision == Precision::kFp16) sdp.out_cvt = {};
  sdp.width = 1;
  sdp.height = height;
  sdp.channels = channels;
  return sdp;
}

void add_contract(Lowering& lowering, const LayerNode& node, const DeconvNode& part,
                  const Scratch& scratch, std::uint32_t block) {
  const DeconvolutionDesc& d = part.desc;
  nvdla_layer layer =
      rubik_layer(NVDLA_RUBIK_CONTRACT, scratch.desc, block * d.stride_width * d.stride_height);
  layer.rubik.stride_width = d.stride_width;
  layer.rubik.stride_height = d.stride_height;
  layer.rubik.input = scratch.surface;
  layer.rubik.output = lowering.surface(node.output);
  lowering.emit(node, layer, {.name = node.name + " contract", .after = {*lowering.last()}});
}

void add_copies(Lowering& lowering, const LayerNode& node, const DeconvNode& part,
                const Scratch& scratch, std::uint32_t surfaces, bool point) {
  const DeconvolutionDesc& d = part.desc;
  const TensorDesc& out = lowering.desc(node.output);
  const std::uint32_t lanes = out.elements_per_atom();
  const std::uint32_t convolved = *lowering.last();
  // The cubes of two phases lie so far apart.
  const std::uint64_t phase_bytes = std::uint64_t{surfaces} * scratch.surface.surface_stride;
  const auto copy = [&](std::uint32_t x, std::uint32_t y, std::uint64_t from, std::uint32_t height,
                        std::uint32_t first, std::uint32_t count) {
    nvdla_sdp sdp =
        copy_sdp(out, height, std::min(count * lanes, out.shape.channels - first * lanes));
    sdp.input = scratch.surface;
    sdp.output = lowering.surface(node.output);
    move(sdp.input, from + std::uint64_t{first} * scratch.surface.surface_stride);
    move(sdp.output, std::uint64_t{first} * sdp.output.surface_stride +
                         std::uint64_t{y} * sdp.output.line_stride +
                         std::uint64_t{x} * lowering.info().atom);
    lowering.emit(node, make_layer(sdp),
                  {.name = fmt::format("{} column {}/{}", node.name, x + 1, out.shape.width),
                   .after = {convolved}});
  };
  for (std::uint32_t x = 0; x < out.shape.width; ++x) {
    const std::uint32_t phase = x % d.stride_width, column = x / d.stride_width;
    if (!point && out.shape.height > 1) {
      copy(x, 0, phase * phase_bytes + std::uint64_t{column} * lowering.info().atom,
           out.shape.height, 0, out.surfaces());
      continue;
    }
    // Cubes of one position: surface by surface, as their strides say nothing.
    for (std::uint32_t y = 0; y < out.shape.height; ++y) {
      const std::uint64_t from = point ? (std::uint64_t{y} * d.stride_width + phase) * phase_bytes
                                       : phase * phase_bytes +
                                             std::uint64_t{column} * lowering.info().atom +
                                             std::uint64_t{y} * scratch.surface.line_stride;
      for (std::uint32_t s = 0; s < out.surfaces(); ++s) copy(x, y, from, 1, s, 1);
    }
  }
}

}  // namespace

Shape deconvolution_room(const DeconvNode& part) {
  Shape room = deconvolution_phase_output(part.desc);
  room.height *= part.desc.stride_height;
  room.width *= part.desc.stride_width;
  return room;
}

void lower(Lowering& lowering, const LayerNode& node, const DeconvNode& part) {
  const DeconvolutionDesc& d = part.desc;
  const TensorDesc& out = lowering.desc(node.output);
  const Shape each = deconvolution_phase_output(d);
  const std::uint32_t lanes = out.elements_per_atom();
  // From int8 to int16 SDP writes surfaces in pairs.
  const bool pairs = d.weights.precision == Precision::kInt8 && out.precision != Precision::kInt8;
  const auto block =
      static_cast<std::uint32_t>(arith::round_up(d.weights.kernels, pairs ? 2 * lanes : lanes));
  const std::uint32_t surfaces = block / lanes;
  // A result of one position is a run of atoms, whatever the strides.
  const bool point = each.width == 1 && each.height == 1 && surfaces > 1;
  const std::uint32_t phases = d.stride_width * d.stride_height;
  const bool direct = d.stride_width == 1 && !(point && d.stride_height > 1);
  const bool contract =
      !direct && lowering.info().has_rubik && std::uint64_t{block} * phases <= kMaxSide;

  Scratch scratch;
  if (!direct) {
    Shape shape = each;
    shape.batch = d.input.batch;
    if (contract || point) {
      shape.channels = block * phases;
    } else {
      shape.channels = block * d.stride_width;
      shape.height = each.height * d.stride_height;
    }
    if (shape.channels > kMaxSide) {
      throw_error(ErrorCode::kNotAvailable,
                  "{} phases of {} channels are more than 8192: split the kernels", phases, block);
    }
    scratch = lowering.add_scratch(shape, out.precision);
  }

  for (std::uint32_t y = 0; y < d.stride_height; ++y) {
    for (std::uint32_t x = 0; x < d.stride_width; ++x) {
      const std::uint32_t phase = y * d.stride_width + x;
      ConstantPool pool = lowering.begin_constants();
      nvdla_conv conv = phase_conv(part, y, x);
      conv.input = lowering.surface(node.input);
      conv.weights.slot = pool.slot();
      conv.weights.offset = pool.add(weights_bytes(weights_desc(conv)));
      std::visit(
          [&](const auto& kernels) {
            pack_weights(lowering.info(), weights_desc(conv),
                         deconvolution_weights(d, y, x, kernels), pool.at(conv.weights.offset));
          },
          *part.weights);
      nvdla_sdp sdp = lower_sdp(lowering, node, part.sdp[phase], pool);
      lowering.commit_constants(std::move(pool));
      if (!direct) sdp.output = scratch.surface;
      if (contract || (!direct && point)) {
        move(sdp.output, std::uint64_t{phase} * surfaces * sdp.output.surface_stride);
      } else {
        if (!direct) move(sdp.output, std::uint64_t{x} * surfaces * sdp.output.surface_stride);
        move(sdp.output, std::uint64_t{y} * sdp.output.line_stride);
        sdp.output.line_stride *= d.stride_height;
      }
      const std::string name =
          phases == 1 ? node.name : fmt::format("{} phase {}/{}", node.name, phase + 1, phases);
      emit_convolution(lowering, node, conv, sdp,
                       {.name = name, .macs = node.macs / phases, .whole = phases == 1});
    }
  }
  if (contract) {
    add_contract(lowering, node, part, scratch, block);
  } else if (!direct) {
    add_copies(lowering, node, part, scratch, surfaces, point);
  }
}

}  // namespace nvdla::detail
