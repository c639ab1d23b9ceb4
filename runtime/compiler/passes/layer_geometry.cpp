// SPDX-License-Identifier: MIT
#include "compiler/passes/layer_geometry.hpp"

#include <algorithm>
#include <iterator>

#include "backend/info.hpp"
#include "compiler/lower/pool_cuts.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/cbuf.hpp"

namespace nvdla::detail {
namespace {

// Firmware fetches so many lines at once that they fill a burst, if the layer says nothing else.
constexpr std::uint32_t kBurstAtoms = 8;

cost::OperandGeometry operand(const OperatorNode& op, Precision processing) {
  const bool per_element = op.mode == NVDLA_OPERAND_ELEMENT;
  return {.read = op.has_memory(),
          .both = op.alu != NVDLA_ALU_NONE && op.mul != NVDLA_MUL_NONE,
          .two_bytes = !per_element || processing != Precision::kInt8,
          .per_element = per_element};
}

// `Operator` is one of descriptors: nvdla_sdp_x or nvdla_sdp_y.
template <typename Operator>
cost::OperandGeometry operand(const Operator& op) {
  return {.read = (op.flags & NVDLA_SDP_ENABLE) != 0 && op.operand_bytes != 0,
          .both = op.alu != NVDLA_ALU_NONE && op.mul != NVDLA_MUL_NONE,
          .two_bytes = op.operand_bytes == 2,
          .per_element = op.mode == NVDLA_OPERAND_ELEMENT};
}

cost::SdpGeometry behind(const nvdla_conv& conv, Precision processing, Precision result) {
  const Shape out = conv_output(conv);
  cost::SdpGeometry to;
  to.width = out.width;
  to.height = out.height;
  to.channels = out.channels;
  to.batches = std::max(conv.batch, 1U);
  to.element_bytes = to.in_bytes = precision_bytes(processing);
  to.out_bytes = precision_bytes(result);
  return to;
}

void set_operators(const nvdla_sdp& sdp, cost::SdpGeometry& to) {
  to.operands[0] = operand(sdp.x1);
  to.operands[1] = operand(sdp.x2);
  to.operands[2] = operand(sdp.y);
  to.x1 = (sdp.x1.flags & NVDLA_SDP_ENABLE) != 0;
  to.x2 = (sdp.x2.flags & NVDLA_SDP_ENABLE) != 0;
  to.y = (sdp.y.flags & NVDLA_SDP_ENABLE) != 0;
  to.writes_cube = sdp.y.alu != NVDLA_ALU_EQUAL;
}

// Returns the geometry of SDP that reads memory.
cost::SdpGeometry geometry(const nvdla_sdp& sdp) {
  cost::SdpGeometry to;
  to.width = sdp.width;
  to.height = sdp.height;
  to.channels = sdp.channels;
  to.element_bytes = precision_bytes(static_cast<Precision>(sdp.proc_precision));
  to.in_bytes = precision_bytes(static_cast<Precision>(sdp.in_precision));
  to.out_bytes = precision_bytes(static_cast<Precision>(sdp.out_precision));
  to.reads_cube = true;
  set_operators(sdp, to);
  return to;
}

cost::RubikGeometry geometry(const nvdla_rubik& rubik) {
  cost::RubikGeometry to;
  to.width = rubik.width;
  to.height = rubik.height;
  to.out_channels = rubik.channels;
  to.element_bytes = precision_bytes(static_cast<Precision>(rubik.precision));
  switch (rubik.mode) {
    case NVDLA_RUBIK_CONTRACT:
      to.stride_width = rubik.stride_width;
      to.stride_height = rubik.stride_height;
      to.out_channels /= to.stride_width * to.stride_height;
      break;
    case NVDLA_RUBIK_SPLIT:
      to.mode = cost::RubikMode::kSplit;
      break;
    default:
      to.mode = cost::RubikMode::kMerge;
  }
  return to;
}

std::span<const nvdla_transfer> transfers_of(const nvdla_bdma& bdma,
                                             std::span<const nvdla_transfer> transfers) {
  return transfers.subspan(bdma.first_transfer, bdma.num_transfers);
}

}  // namespace

cost::Machine machine_of(const DeviceInfo& info) {
  const nvdla_hw& hw = *find_configuration(info);
  return cost::machine_of(hw, hw.regmap == NVDLA_REGMAP_NV_FULL);
}

cost::MemoryTiming memory_of(const DeviceInfo& info) {
  const MemorySpeed& memory = info.memory;
  return {.latency = memory.latency,
          .write_latency = memory.latency,
          .outstanding = memory.outstanding,
          .bandwidth = memory.bandwidth,
          .sram_latency = memory.sram_latency,
          .sram_bandwidth = memory.sram_bandwidth};
}

cost::ConvGeometry geometry(const DeviceInfo& info, const nvdla_conv& conv) {
  const Shape out = conv_output(conv);
  cost::ConvGeometry to;
  to.width = conv.width;
  to.height = conv.height;
  to.channels = to.weight_channels = conv.channels;
  to.batches = std::max(conv.batch, 1U);
  to.element_bytes = precision_bytes(static_cast<Precision>(conv.proc_precision));
  if (conv.mode == NVDLA_CONV_DIRECT) {
    to.grain =
        conv.fetch_grain != 0
            ? conv.fetch_grain
            : std::min<std::uint32_t>(
                  conv.height, static_cast<std::uint32_t>(cost::ceil_div(kBurstAtoms, conv.width)));
  }
  to.kernels = conv.kernels;
  to.kernel_width = conv.kernel_width;
  to.kernel_height = conv.kernel_height;
  to.compressed = (conv.flags & NVDLA_CONV_COMPRESSED) != 0;
  to.weight_bytes = to.compressed ? conv.weights.bytes : kernel_bytes(info, conv) * conv.kernels;
  to.mask_bytes = conv.wmb.bytes;
  to.data_banks = conv.data_banks;
  to.weight_banks = conv.weight_banks;
  to.data_entries = conv_entries_per_line(info, conv) * buffer_lines(conv) * to.batches;
  to.out_width = out.width;
  to.out_height = out.height;
  to.fetches_weights = (conv.flags & NVDLA_CONV_REUSE_WEIGHTS) == 0;
  if (conv.mode == NVDLA_CONV_IMAGE) {
    const PixelLayout pixel = pixel_layout(static_cast<nvdla_pixel_format>(conv.pixel_format));
    to.image = true;
    to.planes = pixel.planes;
    to.plane_bytes[0] = pixel.bytes[0];
    to.plane_bytes[1] = pixel.bytes[1];
    to.x_offset = conv.pixel_offset;
    to.weight_channels = conv.kernel_width * conv.channels;
    to.post_lines = conv.post_extension;
  }
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    to.winograd = true;
    to.winograd_channels =
        winograd_channels(info, {weights_desc(conv), conv.stride_width, conv.stride_height});
  }
  return to;
}

void leave_kept_lines(const nvdla_conv& before, const nvdla_conv& conv, cost::ConvGeometry& to) {
  if ((conv.flags & NVDLA_CONV_REUSE_DATA) == 0) return;
  // Some lines were released, or none.
  const std::uint32_t kept = before.release == 0 ? before.height : before.height - before.release;
  to.fetches_data = kept < conv.height;
  if (!to.fetches_data) return;
  to.height -= kept;
  to.data_entries = to.data_entries / conv.height * to.height;
}

cost::SdpGeometry geometry(const nvdla_conv& conv, const SdpNode& sdp) {
  cost::SdpGeometry to = behind(conv, sdp.processing, sdp.processing);
  to.operands[0] = operand(sdp.operators.x1, sdp.processing);
  to.operands[1] = operand(sdp.operators.x2, sdp.processing);
  to.operands[2] = operand(sdp.y, sdp.processing);
  to.x1 = sdp.operators.x1.active();
  to.x2 = sdp.operators.x2.active();
  to.y = sdp.y.active();
  to.writes_cube = !sdp.silent();
  return to;
}

cost::SdpGeometry geometry(const nvdla_conv& conv, const nvdla_sdp& sdp) {
  cost::SdpGeometry to = behind(conv, static_cast<Precision>(sdp.proc_precision),
                                static_cast<Precision>(sdp.out_precision));
  set_operators(sdp, to);
  return to;
}

cost::PdpGeometry geometry(const nvdla_pdp& pdp) {
  cost::PdpGeometry to;
  to.width = pdp.width;
  to.height = pdp.height;
  to.channels = pdp.channels;
  to.out_width =
      pool_output(pdp.width, pdp.pad_left, pdp.pad_right, pdp.kernel_width, pdp.stride_width);
  to.out_height =
      pool_output(pdp.height, pdp.pad_top, pdp.pad_bottom, pdp.kernel_height, pdp.stride_height);
  to.element_bytes = precision_bytes(static_cast<Precision>(pdp.precision));
  to.reads_cube = true;
  to.kernel_width = pdp.kernel_width;
  to.kernel_height = pdp.kernel_height;
  to.stride_width = pdp.stride_width;
  to.stride_height = pdp.stride_height;
  to.left = pdp.pad_left;
  to.top = pdp.pad_top;
  return to;
}

cost::CdpGeometry geometry(const nvdla_cdp& cdp) {
  return {.width = cdp.width,
          .height = cdp.height,
          .channels = cdp.channels,
          .element_bytes = precision_bytes(static_cast<Precision>(cdp.precision))};
}

cost::LayerGeometry geometry(const DeviceInfo& info, const nvdla_layer& layer,
                             std::span<const nvdla_transfer> transfers) {
  using Kind = cost::LayerGeometry::Kind;
  cost::LayerGeometry to;
  const auto follow = [&] {
    to.pooled = true;
    to.pdp = geometry(layer.pdp);
    to.pdp.reads_cube = false;
  };
  switch (layer.kind) {
    case NVDLA_LAYER_CONV_SDP_PDP:
      follow();
      [[fallthrough]];
    case NVDLA_LAYER_CONV_SDP:
      to.conv = geometry(info, layer.conv);
      to.sdp = geometry(layer.conv, layer.sdp);
      to.sdp.writes_cube = to.sdp.writes_cube && !to.pooled;
      break;
    case NVDLA_LAYER_SDP_PDP:
      follow();
      [[fallthrough]];
    case NVDLA_LAYER_SDP:
      to.kind = Kind::kSdp;
      to.sdp = geometry(layer.sdp);
      to.sdp.writes_cube = to.sdp.writes_cube && !to.pooled;
      break;
    case NVDLA_LAYER_PDP:
      to.kind = Kind::kPdp;
      to.pdp = geometry(layer.pdp);
      break;
    case NVDLA_LAYER_CDP:
      to.kind = Kind::kCdp;
      to.cdp = geometry(layer.cdp);
      break;
    case NVDLA_LAYER_RUBIK:
      to.kind = Kind::kRubik;
      to.rubik = geometry(layer.rubik);
      break;
    default:
      to.kind = Kind::kBdma;
      for (const nvdla_transfer& transfer : transfers_of(layer.bdma, transfers))
        to.moved += cost::read_lines(machine_of(info), cost::Interface::kPrimary,
                                     std::uint64_t{transfer.lines} * transfer.surfaces,
                                     transfer.line_bytes / info.atom);
  }
  return to;
}

bool in_sram(const Allocation& allocation, const BuildOptions& options) {
  // A layer's input, its output and one more tensor live at a time.
  constexpr std::uint64_t kTensors = 3;
  if (allocation.slot.memory == NVDLA_MEMORY_SRAM) return true;
  return !allocation.dedicated && allocation.contents.empty() &&
         allocation.slot.size <= options.sram_bytes / kTensors;
}

void set_interfaces(const nvdla_layer& layer, std::span<const nvdla_transfer> transfers,
                    const InterfaceOf& interface_of, cost::LayerGeometry& to) {
  using Kind = cost::LayerGeometry::Kind;
  if (to.kind == Kind::kBdma) {
    for (const nvdla_transfer& transfer : transfers_of(layer.bdma, transfers)) {
      to.moved.interface = interface_of(transfer.source.slot);
      to.moved_to = interface_of(transfer.destination.slot);
    }
    return;
  }
  if (to.kind == Kind::kRubik) {
    to.rubik.source = interface_of(layer.rubik.input.slot);
    to.rubik.destination = interface_of(layer.rubik.output.slot);
    return;
  }
  if (to.kind == Kind::kCdp) {
    to.cdp.source = interface_of(layer.cdp.input.slot);
    to.cdp.destination = interface_of(layer.cdp.output.slot);
    return;
  }
  if (to.kind == Kind::kPdp) to.pdp.source = interface_of(layer.pdp.input.slot);
  if (to.kind == Kind::kPdp || to.pooled) to.pdp.destination = interface_of(layer.pdp.output.slot);
  if (to.kind == Kind::kPdp) return;
  if (to.kind == Kind::kConv) {
    to.conv.data = interface_of(layer.conv.input.slot);
    to.conv.weights = interface_of(layer.conv.weights.slot);
  } else {
    to.sdp.source = interface_of(layer.sdp.input.slot);
  }
  if (!to.pooled) to.sdp.destination = interface_of(layer.sdp.output.slot);
  const nvdla_surface* const operands[] = {&layer.sdp.x1.operand, &layer.sdp.x2.operand,
                                           &layer.sdp.y.operand};
  for (std::size_t i = 0; i < std::size(operands); ++i)
    if (to.sdp.operands[i].read) to.sdp.operands[i].interface = interface_of(operands[i]->slot);
}

void set_interfaces(const Schedule& schedule, const BuildOptions& options, const nvdla_layer& layer,
                    cost::LayerGeometry& to) {
  const auto interface_of = [&](std::uint32_t allocation) {
    return in_sram(schedule.allocations[allocation], options) ? cost::Interface::kSecondary
                                                              : cost::Interface::kPrimary;
  };
  set_interfaces(layer, schedule.transfers, interface_of, to);
}

std::vector<cost::SequenceLayer> sequence_of(const Schedule& schedule,
                                             const Schedule::Segment& segment,
                                             const DeviceInfo& info,
                                             const InterfaceOf& interface_of) {
  std::vector<cost::SequenceLayer> sequence;
  const nvdla_conv* before = nullptr;
  for (std::uint32_t i = segment.first; i < segment.second; ++i) {
    const nvdla_layer& layer = schedule.layers[i];
    cost::SequenceLayer& next = sequence.emplace_back();
    next.layer = geometry(info, layer, schedule.transfers);
    if (next.layer.kind == cost::LayerGeometry::Kind::kConv) {
      if (before != nullptr) leave_kept_lines(*before, layer.conv, next.layer.conv);
      before = &layer.conv;
    }
    set_interfaces(layer, schedule.transfers, interface_of, next.layer);
    for (const std::uint32_t earlier : schedule.operations[i].after)
      if (earlier >= segment.first) next.waits.push_back(earlier - segment.first);
  }
  return sequence;
}

cost::SequenceCycles predict_sequence(const DeviceInfo& info,
                                      std::span<const cost::SequenceLayer> sequence) {
  // The way around the fault of the clock gate enables no convolution ahead.
  return cost::sequence_cycles(machine_of(info), memory_of(info), sequence,
                               {.convolutions_ahead = !info.has_weight_gating});
}

}  // namespace nvdla::detail
