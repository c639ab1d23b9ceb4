// SPDX-License-Identifier: MIT
#include "model/pdp/pdp_layer.hpp"

#include <algorithm>

#include "model/core/machine.hpp"

namespace nvdla::model {
namespace {

// The line buffer holds 16 columns of 8 lines, each of an atom.
constexpr unsigned kBufferColumns = 16;
constexpr unsigned kBufferLines = 8;
constexpr unsigned kMostBands = 64;
constexpr unsigned kMostKernel = 8;

std::string number(std::int64_t value) { return std::to_string(value); }

std::string differs(const char* what, std::uint64_t pdp, std::uint64_t rdma) {
  return std::string("PDP ") + what + " " + std::to_string(pdp) + " but PDP_RDMA " + what + " " +
         std::to_string(rdma);
}

std::string rdma_fault(const PdpLayer& layer) {
  const PdpRdma& rdma = layer.rdma;
  if (rdma.height != layer.height) return differs("height", layer.height, rdma.height);
  if (rdma.channels != layer.channels) return differs("channels", layer.channels, rdma.channels);
  if (rdma.precision != layer.precision)
    return std::string("PDP INPUT_DATA ") + precision_name(layer.precision) + " but PDP_RDMA " +
           precision_name(rdma.precision);
  if (rdma.bands != layer.bands) return differs("bands", layer.bands, rdma.bands);
  if (layer.bands == 1)
    return rdma.width == layer.width ? "" : differs("width", layer.width, rdma.width);
  // The width of a split layer is nowhere used, its bands are.
  if (rdma.in.first != layer.in.first)
    return differs("PARTIAL_WIDTH_IN_FIRST", layer.in.first, rdma.in.first);
  if (rdma.in.last != layer.in.last)
    return differs("PARTIAL_WIDTH_IN_LAST", layer.in.last, rdma.in.last);
  if (layer.bands > 2 && rdma.in.middle != layer.in.middle)
    return differs("PARTIAL_WIDTH_IN_MID", layer.in.middle, rdma.in.middle);
  if (rdma.kernel_width != layer.kernel_width)
    return differs("KERNEL_WIDTH", layer.kernel_width, rdma.kernel_width);
  if (rdma.stride_width != layer.stride_width)
    return differs("KERNEL_STRIDE_WIDTH", layer.stride_width, rdma.stride_width);
  return {};
}

// Windows must use up the input exactly, else the read side waits for ever, and must not need more
// padding than there is; padding behind the last window is never used.
std::string window_fault(const std::string& what, unsigned out, unsigned stride, unsigned kernel,
                         unsigned input, unsigned padding_behind) {
  const unsigned used = (out - 1) * stride + kernel;
  if (used >= input && used <= input + padding_behind) return {};
  return what + ": " + number(out) + " windows of " + number(kernel) + " at stride " +
         number(stride) + " take " + number(used) + " positions, the padded input has " +
         number(input + padding_behind);
}

std::string band_fault(const PdpLayer& layer) {
  if (!layer.from_memory) return "a layer on the fly is split into bands";
  if (layer.bands > kMostBands)
    return "SPLIT_NUM makes " + number(layer.bands) + " bands, more than " + number(kMostBands);
  const bool middle = layer.bands > 2;
  const int overlap = static_cast<int>(layer.kernel_width) - static_cast<int>(layer.stride_width);
  // Sizes that fall below 1 wrap around, an offset below 0 reads in front of the cube.
  if (static_cast<int>(layer.in.first) < overlap)
    return "PARTIAL_WIDTH_IN_FIRST " + number(layer.in.first) + " is less than the overlap of " +
           number(overlap) + " columns";
  if (middle && static_cast<int>(layer.in.middle) + overlap < 1)
    return "PARTIAL_WIDTH_IN_MID " + number(layer.in.middle) + " is all skipped columns";
  if (static_cast<int>(layer.in.last) + overlap < 1)
    return "PARTIAL_WIDTH_IN_LAST " + number(layer.in.last) + " is all skipped columns";
  if (std::string fault = window_fault("first band", layer.out.first, layer.stride_width,
                                       layer.kernel_width, layer.left + layer.in.first, 0);
      !fault.empty())
    return fault;
  if (middle && layer.in.middle != layer.out.middle * layer.stride_width)
    return "PARTIAL_WIDTH_IN_MID " + number(layer.in.middle) + " is not " +
           number(layer.out.middle) + " windows at stride " + number(layer.stride_width);
  const unsigned last = layer.out.last * layer.stride_width;
  if (last < layer.in.last || last > layer.in.last + layer.right)
    return "PARTIAL_WIDTH_IN_LAST " + number(layer.in.last) + " and PAD_RIGHT " +
           number(layer.right) + " are not " + number(layer.out.last) + " windows at stride " +
           number(layer.stride_width);
  return {};
}

}  // namespace

// Fields by the names that they have in nvdla_regs.h.
#define PDP_RDMA(reg, name) NVDLA_VIEW_FIELD(view, PDP_RDMA_D_##reg, name)
#define PDP(reg, name) NVDLA_VIEW_FIELD(view, PDP_D_##reg, name)

PdpRdma read_pdp_rdma(const GroupView& view) {
  PdpRdma rdma;
  rdma.width = PDP_RDMA(DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1;
  rdma.height = PDP_RDMA(DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1;
  rdma.channels = PDP_RDMA(DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1;
  rdma.precision = static_cast<Precision>(PDP_RDMA(DATA_FORMAT, INPUT_DATA));
  rdma.source = NVDLA_VIEW_SURFACE(view, PDP_RDMA_D_SRC, PDP_RDMA_D_SRC_RAM_CFG, SRC_RAM_TYPE);
  rdma.bands = PDP_RDMA(OPERATION_MODE_CFG, SPLIT_NUM) + 1;
  rdma.in = {
      PDP_RDMA(PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST) + 1,
      PDP_RDMA(PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID) + 1,
      PDP_RDMA(PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST) + 1,
  };
  rdma.kernel_width = PDP_RDMA(POOLING_KERNEL_CFG, KERNEL_WIDTH) + 1;
  rdma.stride_width = PDP_RDMA(POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH) + 1;
  return rdma;
}

PdpLayer read_pdp(const RegisterFile& registers) {
  const GroupView view = registers.view(NVDLA_UNIT_PDP);
  PdpLayer layer;
  layer.width = PDP(DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1;
  layer.height = PDP(DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1;
  layer.channels = PDP(DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1;
  layer.out_width = PDP(DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH) + 1;
  layer.out_height = PDP(DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT) + 1;
  layer.out_channels = PDP(DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL) + 1;
  layer.method = static_cast<Pooling>(PDP(OPERATION_MODE_CFG, POOLING_METHOD));
  layer.from_memory = PDP(OPERATION_MODE_CFG, FLYING_MODE) != 0;
  layer.bands = PDP(OPERATION_MODE_CFG, SPLIT_NUM) + 1;
  layer.flush_nan = PDP(NAN_FLUSH_TO_ZERO, NAN_TO_ZERO) != 0;
  layer.precision = static_cast<Precision>(PDP(DATA_FORMAT, INPUT_DATA));
  layer.in = {
      PDP(PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST) + 1,
      PDP(PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID) + 1,
      PDP(PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST) + 1,
  };
  layer.out = {
      PDP(PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST) + 1,
      PDP(PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID) + 1,
      PDP(PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST) + 1,
  };
  // Bands are as wide as they are, whatever CUBE_OUT_WIDTH says.
  if (layer.bands > 1)
    layer.out_width = layer.out.first + (layer.bands - 2) * layer.out.middle + layer.out.last;
  layer.kernel_width = PDP(POOLING_KERNEL_CFG, KERNEL_WIDTH) + 1;
  layer.kernel_height = PDP(POOLING_KERNEL_CFG, KERNEL_HEIGHT) + 1;
  layer.stride_width = PDP(POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH) + 1;
  layer.stride_height = PDP(POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT) + 1;
  layer.left = PDP(POOLING_PADDING_CFG, PAD_LEFT);
  layer.right = PDP(POOLING_PADDING_CFG, PAD_RIGHT);
  layer.top = PDP(POOLING_PADDING_CFG, PAD_TOP);
  layer.bottom = PDP(POOLING_PADDING_CFG, PAD_BOTTOM);
  layer.reciprocal_width = PDP(RECIP_KERNEL_WIDTH, RECIP_KERNEL_WIDTH);
  layer.reciprocal_height = PDP(RECIP_KERNEL_HEIGHT, RECIP_KERNEL_HEIGHT);
  constexpr std::uint32_t kRegisterStep =
      NVDLA_PDP_D_POOLING_PADDING_VALUE_2_CFG - NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG;
  static_assert(NVDLA_PDP_D_POOLING_PADDING_VALUE_7_CFG ==
                NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + 6 * kRegisterStep);
  for (unsigned n = 1; n < layer.padding.size(); ++n)
    layer.padding[n] = view.word(NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + (n - 1) * kRegisterStep);
  layer.destination = NVDLA_VIEW_SURFACE(view, PDP_D_DST, PDP_D_DST_RAM_CFG, DST_RAM_TYPE);
  layer.has_rdma = layer.from_memory && registers.running(NVDLA_UNIT_PDP_RDMA);
  if (layer.has_rdma) layer.rdma = read_pdp_rdma(registers.view(NVDLA_UNIT_PDP_RDMA));
  return layer;
}

#undef PDP_RDMA
#undef PDP

void input_columns(const PdpRdma& rdma, std::vector<Columns>& columns) {
  columns.clear();
  columns.push_back({0, rdma.bands == 1 ? rdma.width : rdma.in.first});
  // Columns that a band shares with the one before; below 0 they are skipped.
  const int overlap = static_cast<int>(rdma.kernel_width) - static_cast<int>(rdma.stride_width);
  unsigned end = rdma.in.first;
  for (unsigned band = 1; band < rdma.bands; ++band) {
    const unsigned fresh = band + 1 < rdma.bands ? rdma.in.middle : rdma.in.last;
    columns.push_back({static_cast<unsigned>(static_cast<int>(end) - overlap),
                       static_cast<unsigned>(static_cast<int>(fresh) + overlap)});
    end += fresh;
  }
}

std::string pdp_fault(const nvdla_hw& hw, const PdpLayer& layer) {
  if (layer.has_rdma)
    if (std::string fault = rdma_fault(layer); !fault.empty()) return fault;
  if (layer.method > Pooling::kMin) return "POOLING_METHOD 3 does not exist";
  const std::uint32_t needs = layer.precision == Precision::kInt8    ? 0
                              : layer.precision == Precision::kInt16 ? NVDLA_HW_INT16
                                                                     : NVDLA_HW_FP16;
  if (layer.precision > Precision::kFp16 || (hw.features & needs) != needs)
    return std::string("INPUT_DATA ") + precision_name(layer.precision) + ": " + hw.name +
           " has no such precision";
  if (layer.out_channels != layer.channels)
    return "CUBE_IN_CHANNEL " + number(layer.channels) + " but CUBE_OUT_CHANNEL " +
           number(layer.out_channels);
  if (layer.kernel_width > kMostKernel || layer.kernel_height > kMostKernel)
    return "kernel " + number(layer.kernel_width) + " x " + number(layer.kernel_height) +
           " is larger than " + number(kMostKernel);
  if (layer.left >= layer.kernel_width || layer.right >= layer.kernel_width)
    return "PAD_LEFT " + number(layer.left) + " or PAD_RIGHT " + number(layer.right) +
           " is not less than the kernel's width " + number(layer.kernel_width);
  if (layer.top >= layer.kernel_height || layer.bottom >= layer.kernel_height)
    return "PAD_TOP " + number(layer.top) + " or PAD_BOTTOM " + number(layer.bottom) +
           " is not less than the kernel's height " + number(layer.kernel_height);

  if (std::string fault = window_fault("height", layer.out_height, layer.stride_height,
                                       layer.kernel_height, layer.top + layer.height, layer.bottom);
      !fault.empty())
    return fault;
  const unsigned lines = (layer.kernel_height + layer.stride_height - 1) / layer.stride_height;
  const unsigned most = kBufferColumns * (kBufferLines / lines);
  unsigned widest = layer.out_width;
  if (layer.bands == 1) {
    if (std::string fault = window_fault("width", layer.out_width, layer.stride_width,
                                         layer.kernel_width, layer.left + layer.width, layer.right);
        !fault.empty())
      return fault;
  } else {
    if (std::string fault = band_fault(layer); !fault.empty()) return fault;
    widest = std::max(layer.out.first, layer.out.last);
    if (layer.bands > 2) widest = std::max(widest, layer.out.middle);
  }
  if (widest > most)
    return number(widest) + " output columns at once, but the line buffer holds " + number(most) +
           " with kernel height " + number(layer.kernel_height) + " and stride " +
           number(layer.stride_height);

  if ((hw.features & NVDLA_HW_SRAM) == 0) {
    const std::string none = std::string(" is in secondary memory but ") + hw.name + " has none";
    if (layer.from_memory && layer.rdma.source.ram == Ram::kSecondary)
      return "PDP_RDMA source" + none;
    if (layer.destination.ram == Ram::kSecondary) return "PDP destination" + none;
  }
  return {};
}

std::string pdp_fault(const nvdla_hw& hw, const PdpLayer& layer, const SdpLayer& sdp) {
  const auto wrong = [](const char* what, std::uint64_t from, std::uint64_t to) {
    return std::string("SDP gives ") + what + " " + std::to_string(from) + ", PDP takes " +
           std::to_string(to);
  };
  if (sdp.width != layer.width) return wrong("width", sdp.width, layer.width);
  if (sdp.height != layer.height) return wrong("height", sdp.height, layer.height);
  if (sdp.channels != layer.channels) return wrong("channels", sdp.channels, layer.channels);
  if (sdp.out != layer.precision)
    return std::string("SDP gives ") + precision_name(sdp.out) + ", PDP takes " +
           precision_name(layer.precision);
  if (sdp.batches > 1 && (hw.features & NVDLA_HW_BATCH) != 0)
    return "SDP gives " + std::to_string(sdp.batches) + " batches, PDP takes one";
  return pdp_fault(hw, layer);
}

cost::PdpGeometry geometry(const PdpLayer& layer) {
  cost::PdpGeometry to{layer};
  to.element_bytes = precision_bytes(layer.precision);
  to.reads_cube = layer.from_memory;
  to.source = interface_of(layer.rdma.source.ram);
  to.destination = interface_of(layer.destination.ram);
  to.split = layer.bands > 1;
  if (layer.from_memory && to.split) {
    std::vector<Columns> bands;
    input_columns(layer.rdma, bands);
    for (const Columns& band : bands) to.bands.push_back(band.count);
  }
  return to;
}

}  // namespace nvdla::model
