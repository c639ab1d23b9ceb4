// SPDX-License-Identifier: MIT
#include "common/lift/lift.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "common/lift/lift_units.hpp"

namespace nvdla::test {

namespace {

#define OWN(unit, reg, field) LIFT_FIELD(*registers_, unit, reg, field)
#define OWN_WHOLE(unit, reg) LIFT_WHOLE(*registers_, unit, reg)

class Lifter {
 public:
  Lifter(const nvdla_hw& hw, std::span<const LaunchMemory> memories, const Contents& contents)
      : hw_(hw), memories_(memories), contents_(contents) {
    for (const auto& memory : memories) add_slot(memory);
  }

  void add(const LaunchRegisters& launch) {
    registers_ = &launch;
    layer_ = {};
    const bool conv = registers_->enabled(NVDLA_UNIT_CDMA);
    const bool sdp = registers_->enabled(NVDLA_UNIT_SDP);
    const bool pdp = registers_->enabled(NVDLA_UNIT_PDP);
    if (!registers_->commands().empty()) {
      add_transfers(lift_transfers(launch, surface_));
      layer_.kind = NVDLA_LAYER_BDMA;
    } else if (registers_->enabled(NVDLA_UNIT_RBK)) {
      layer_.rubik = lift_rubik(launch, surface_);
      layer_.kind = NVDLA_LAYER_RUBIK;
    } else if (registers_->enabled(NVDLA_UNIT_CDP)) {
      layer_.cdp = lift_cdp(launch, surface_);
      add_lut(lift_lut(launch, NVDLA_LUT_CDP, layer_.cdp.precision));
      layer_.kind = NVDLA_LAYER_CDP;
    } else if (pdp && !sdp) {
      layer_.pdp = lift_pdp(launch, surface_, false);
      layer_.kind = NVDLA_LAYER_PDP;
    } else if (sdp) {
      if (conv) lift_conv();
      layer_.sdp = lift_sdp(launch, surface_, conv, pdp);
      if (layer_.sdp.y.flags & NVDLA_SDP_LUT)
        add_lut(lift_lut(launch, NVDLA_LUT_SDP, layer_.sdp.proc_precision));
      if (pdp) layer_.pdp = lift_pdp(launch, surface_, true);
      layer_.kind = conv  ? pdp ? NVDLA_LAYER_CONV_SDP_PDP : NVDLA_LAYER_CONV_SDP
                    : pdp ? NVDLA_LAYER_SDP_PDP
                          : NVDLA_LAYER_SDP;
    } else {
      throw LiftError("nothing that a layer can end in is enabled");
    }
    result_.layers.push_back(layer_);
  }

  Lifted take() {
    if (!result_.control.empty()) result_.slots.back().size = result_.control.size();
    return std::move(result_);
  }

 private:
  void add_slot(const LaunchMemory& memory) {
    nvdla_slot slot{};
    slot.size = memory.size;
    // Planes want 64; everything else an atom.
    slot.alignment = memory.address % 64 == 0 ? 64 : hw_.atom;
    slot.memory = memory.memory.value_or(NVDLA_MEMORY_DRAM);
    slot.access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
    result_.slots.push_back(slot);
    result_.bases.push_back(memory.address);
  }

  struct Place {
    std::uint32_t slot;
    std::uint64_t offset;
  };

  // RAM type 1 is the primary memory. A memory is one or the other.
  Place place(std::uint32_t ram_type, std::uint32_t high, std::uint32_t low) {
    const std::uint64_t address = std::uint64_t{high} << 32 | low;
    const std::uint32_t memory = ram_type != 0 ? NVDLA_MEMORY_DRAM : NVDLA_MEMORY_SRAM;
    for (std::uint32_t i = 0; i < memories_.size(); i++) {
      if (address < result_.bases[i] || address - result_.bases[i] >= result_.slots[i].size)
        continue;
      if (memories_[i].memory.value_or(memory) != memory) continue;
      if (used_.contains(i) && result_.slots[i].memory != memory)
        throw LiftError("address " + std::to_string(address) + " is reached both ways");
      used_.insert(i);
      result_.slots[i].memory = memory;
      return {i, address - result_.bases[i]};
    }
    throw LiftError("address " + std::to_string(address) + " is in no memory");
  }

  nvdla_surface surface(std::uint32_t ram_type, std::uint32_t high, std::uint32_t low,
                        std::uint32_t line, std::uint32_t surface_stride) {
    const Place at = place(ram_type, high, low);
    nvdla_surface s{};
    s.slot = at.slot;
    s.offset = at.offset;
    s.line_stride = line;
    s.surface_stride = surface_stride;
    return s;
  }

  void lift_converter(nvdla_conv& conv, bool image) {
    conv.cvt_scale = sign_extend(OWN_WHOLE(CDMA, D_CVT_SCALE), 16);
    conv.cvt_truncate = OWN(CDMA, D_CVT_CFG, CVT_TRUNCATE);
    if (image && OWN(CDMA, D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE))
      conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
    if (!image || !OWN_WHOLE(CDMA, D_MEAN_FORMAT)) {
      conv.cvt_offset = sign_extend(OWN_WHOLE(CDMA, D_CVT_OFFSET), 16);
      return;
    }
    conv.flags |= NVDLA_CONV_MEAN;
    const std::uint32_t components = OWN(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
    const std::uint32_t means[] = {
        OWN(CDMA, D_MEAN_GLOBAL_0, MEAN_RY), OWN(CDMA, D_MEAN_GLOBAL_0, MEAN_GU),
        OWN(CDMA, D_MEAN_GLOBAL_1, MEAN_BV), OWN(CDMA, D_MEAN_GLOBAL_1, MEAN_AX)};
    for (std::uint32_t i = 0; i < components && i < 4; i++)
      conv.mean[i] = sign_extend(means[i], 16);
  }

  void lift_conv() {
    nvdla_conv& conv = layer_.conv;
    const bool winograd =
        OWN(CDMA, D_MISC_CFG, CONV_MODE) == NVDLA_CDMA_D_MISC_CFG_CONV_MODE_WINOGRAD;
    const bool image = OWN(CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT) != 0;
    conv.mode = image ? NVDLA_CONV_IMAGE : winograd ? NVDLA_CONV_WINOGRAD : NVDLA_CONV_DIRECT;
    if (OWN(CDMA, D_MISC_CFG, DATA_REUSE)) conv.flags |= NVDLA_CONV_REUSE_DATA;
    if (OWN(CDMA, D_MISC_CFG, WEIGHT_REUSE)) conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    if (OWN(CDMA, D_MISC_CFG, SKIP_DATA_RLS)) conv.flags |= NVDLA_CONV_KEEP_DATA;
    if (OWN(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS)) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
    if (OWN(CDMA, D_WEIGHT_FORMAT, WEIGHT_FORMAT)) conv.flags |= NVDLA_CONV_COMPRESSED;
    conv.in_precision = OWN(CDMA, D_MISC_CFG, IN_PRECISION);
    // fp16 pixels pass the converter unchanged.
    if (OWN(CDMA, D_CVT_CFG, CVT_EN) && !(image && conv.in_precision == NVDLA_PRECISION_FP16))
      conv.flags |= NVDLA_CONV_CONVERT;
    conv.proc_precision = OWN(CDMA, D_MISC_CFG, PROC_PRECISION);
    if (conv.proc_precision == NVDLA_PRECISION_FP16 && OWN(CDMA, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO))
      conv.flags |= NVDLA_CONV_NAN_TO_ZERO;

    if (conv.flags & NVDLA_CONV_CONVERT) lift_converter(conv, image);

    conv.width = OWN(CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
    conv.height = OWN(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
    conv.channels = OWN(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
    conv.batch = OWN(CDMA, D_BATCH_NUMBER, BATCHES) + 1;
    conv.kernels = OWN(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1;
    conv.kernel_width = OWN(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT) + 1;
    conv.kernel_height = OWN(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;
    // The width of the kernel is folded into its channels.
    if (image)
      conv.kernel_width = (OWN(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT) + 1) / conv.channels;
    conv.stride_width = OWN(CDMA, D_CONV_STRIDE, CONV_X_STRIDE) + 1;
    conv.stride_height = OWN(CDMA, D_CONV_STRIDE, CONV_Y_STRIDE) + 1;
    conv.dilation_width = OWN(CSC, D_DILATION_EXT, X_DILATION_EXT) + 1;
    conv.dilation_height = OWN(CSC, D_DILATION_EXT, Y_DILATION_EXT) + 1;
    if (winograd) {
      // The tiles say nothing of the kernel that became them, and little of the lines.
      conv.height = OWN(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
      conv.kernel_width = 3 * conv.stride_width;
      conv.kernel_height = 3 * conv.stride_height;
      if (conv.proc_precision != NVDLA_PRECISION_FP16)
        conv.pra_truncate = OWN(CSC, D_PRA_CFG, PRA_TRUNCATE);
    }
    conv.pad_left = OWN(CDMA, D_ZERO_PADDING, PAD_LEFT);
    conv.pad_right = OWN(CDMA, D_ZERO_PADDING, PAD_RIGHT);
    conv.pad_top = OWN(CDMA, D_ZERO_PADDING, PAD_TOP);
    conv.pad_bottom = OWN(CDMA, D_ZERO_PADDING, PAD_BOTTOM);
    const std::uint32_t pad = OWN(CSC, D_ZERO_PADDING_VALUE, PAD_VALUE);
    conv.pad_value = conv.proc_precision == NVDLA_PRECISION_INT8 ? sign_extend(pad, 8)
                     : conv.proc_precision == NVDLA_PRECISION_INT16
                         ? sign_extend(pad, 16)
                         : static_cast<std::int32_t>(pad);
    conv.data_banks = OWN(CDMA, D_BANK, DATA_BANK) + 1;
    conv.weight_banks = OWN(CDMA, D_BANK, WEIGHT_BANK) + 1;
    if (!image) conv.fetch_grain = OWN(CDMA, D_FETCH_GRAIN, GRAINS) + 1;
    if ((conv.flags & NVDLA_CONV_KEEP_DATA) == 0 && !winograd)
      conv.release = OWN(CSC, D_RELEASE, RLS_SLICES) + 1;
    conv.post_extension = 1u << OWN(CSC, D_POST_Y_EXTENSION, Y_EXTENSION);
    conv.clip_truncate = OWN(CACC, D_CLIP_CFG, CLIP_TRUNCATE);

    conv.input =
        surface(OWN(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE), OWN_WHOLE(CDMA, D_DAIN_ADDR_HIGH_0),
                OWN_WHOLE(CDMA, D_DAIN_ADDR_LOW_0), OWN_WHOLE(CDMA, D_LINE_STRIDE),
                image ? 0 : OWN_WHOLE(CDMA, D_SURF_STRIDE));
    if (image) {
      conv.pixel_format = OWN(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT);
      conv.pixel_offset = OWN(CDMA, D_PIXEL_OFFSET, PIXEL_X_OFFSET);
      if (conv.pixel_format >= NVDLA_PIXEL_Y8_U8V8_N444)
        conv.input_uv = surface(
            OWN(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE), OWN_WHOLE(CDMA, D_DAIN_ADDR_HIGH_1),
            OWN_WHOLE(CDMA, D_DAIN_ADDR_LOW_1), OWN_WHOLE(CDMA, D_LINE_UV_STRIDE), 0);
    }
    if (conv.batch > 1) conv.input.batch_stride = OWN_WHOLE(CDMA, D_BATCH_STRIDE);
    // A part of the lines may be there already: the address is of the rest.
    const std::uint32_t kept = conv.height - (OWN(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1);
    conv.input.offset -= std::uint64_t{kept} * conv.input.line_stride;
    const Place weights =
        place(OWN(CDMA, D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE), OWN_WHOLE(CDMA, D_WEIGHT_ADDR_HIGH),
              OWN_WHOLE(CDMA, D_WEIGHT_ADDR_LOW));
    conv.weights.slot = weights.slot;
    conv.weights.offset = weights.offset;
    conv.weights.bytes = OWN_WHOLE(CDMA, D_WEIGHT_BYTES);
    if (conv.flags & NVDLA_CONV_COMPRESSED) return lift_tables(conv);
    // Published software rounds up to 128 everywhere; what to fetch follows from the kernels.
    const std::uint64_t kernel = OWN(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1;
    if (conv.weights.bytes == round_up_weights(kernel * conv.kernels)) conv.weights.bytes = 0;
    if ((hw_.features & NVDLA_HW_WEIGHT_GATING) != 0) take_banks(conv, kernel * conv.kernels);
  }

  // Weights that have to stay take banks that nobody uses, if those of the launch are too few.
  void take_banks(nvdla_conv& conv, std::uint64_t bytes) const {
    const std::uint64_t bank = std::uint64_t{hw_.cbuf_entries} * hw_.cbuf_entry_bytes;
    const std::uint64_t margin = conv.kernels > hw_.atomic_k ? 128 : 0;
    const std::uint64_t need = (bytes + margin + bank - 1) / bank;
    if (conv.data_banks + need > hw_.cbuf_banks) return;
    conv.weight_banks = std::max(conv.weight_banks, static_cast<std::uint32_t>(need));
  }

  void lift_tables(nvdla_conv& conv) {
    const std::uint32_t bytes = conv.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2;
    const std::uint32_t group = hw_.atomic_k / bytes;
    if (result_.control.empty()) {
      add_slot({kControlBase, 0});
      result_.slots.back().access = NVDLA_SLOT_CONTROL;
      result_.slots.back().memory = result_.slots[conv.weights.slot].memory;
    }
    conv.wmb = copy_table(OWN_WHOLE(CDMA, D_WMB_ADDR_HIGH), OWN_WHOLE(CDMA, D_WMB_ADDR_LOW),
                          OWN_WHOLE(CDMA, D_WMB_BYTES));
    conv.wgs = copy_table(OWN_WHOLE(CDMA, D_WGS_ADDR_HIGH), OWN_WHOLE(CDMA, D_WGS_ADDR_LOW),
                          (conv.kernels + group - 1) / group * 4);
  }

  nvdla_span copy_table(std::uint32_t high, std::uint32_t low, std::uint32_t bytes) {
    const std::uint64_t address = std::uint64_t{high} << 32 | low;
    const auto table = contents_(address, bytes);
    nvdla_span span{};
    span.slot = static_cast<std::uint32_t>(memories_.size());
    span.offset = result_.control.size();
    span.bytes = bytes;
    result_.moved[address] = kControlBase + span.offset;
    result_.control.insert(result_.control.end(), table.begin(), table.end());
    // Tables are read in whole atoms.
    result_.control.resize((result_.control.size() + hw_.atom - 1) / hw_.atom * hw_.atom);
    return span;
  }

  void add_lut(const nvdla_lut& lut) {
    result_.luts.push_back(lut);
    layer_.lut = static_cast<std::uint32_t>(result_.luts.size());
  }

  void add_transfers(const std::vector<nvdla_transfer>& transfers) {
    layer_.bdma.first_transfer = static_cast<std::uint32_t>(result_.transfers.size());
    layer_.bdma.num_transfers = static_cast<std::uint32_t>(transfers.size());
    result_.transfers.insert(result_.transfers.end(), transfers.begin(), transfers.end());
  }

  const SurfaceAt surface_ = [this](auto... where) { return surface(where...); };
  const nvdla_hw& hw_;
  // Above all memory of launches.
  static constexpr std::uint64_t kControlBase = std::uint64_t{1} << 40;

  const std::span<const LaunchMemory> memories_;
  const Contents& contents_;
  const LaunchRegisters* registers_ = nullptr;
  nvdla_layer layer_{};
  Lifted result_;
  std::set<std::uint32_t> used_;  // slots
};

}  // namespace

Lifted lift(const nvdla_hw& hw, std::span<const LaunchRegisters> launches,
            std::span<const LaunchMemory> memories, const Contents& contents) {
  Lifter lifter(hw, memories, contents);
  for (const auto& launch : launches) lifter.add(launch);
  return lifter.take();
}

bool widen_pairs(Lifted& lifted) {
  const bool pairs =
      std::any_of(lifted.layers.begin(), lifted.layers.end(), [](const nvdla_layer& layer) {
        const nvdla_sdp& sdp = layer.sdp;
        return sdp.proc_precision == NVDLA_PRECISION_INT8 &&
               (sdp.in_precision == NVDLA_PRECISION_INT16 ||
                sdp.out_precision == NVDLA_PRECISION_INT16);
      });
  for (nvdla_slot& slot : lifted.slots)
    if (pairs && slot.access != NVDLA_SLOT_CONTROL) slot.size *= 2;
  return pairs;
}

}  // namespace nvdla::test
