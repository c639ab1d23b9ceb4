// SPDX-License-Identifier: MIT
#include "support/lift.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace nvdla::test {

void LaunchRegisters::write(std::uint32_t byte_address, std::uint32_t value) {
  const auto* info = model::register_at(map_, byte_address);
  if (info == nullptr) return;
  values_[byte_address] = value;
  const std::uint32_t offset = byte_address - *model::unit_base(map_, info->unit);
  if (info->unit == NVDLA_UNIT_SDP || info->unit == NVDLA_UNIT_CDP)
    write_table(info->unit, offset, value);
  if (info->unit == NVDLA_UNIT_BDMA && offset == NVDLA_BDMA_CFG_OP && (value & 1) != 0) {
    Command command;
    for (std::uint32_t at = 0; at < NVDLA_BDMA_CFG_OP; at += 4)
      command[at] = read(NVDLA_UNIT_BDMA, at);
    commands_.push_back(command);
  }
}

// The same registers in both units.
void LaunchRegisters::write_table(model::Unit unit, std::uint32_t offset, std::uint32_t value) {
  const bool cdp = unit == NVDLA_UNIT_CDP;
  std::uint32_t& access = access_[cdp];
  if (offset == NVDLA_SDP_S_LUT_ACCESS_CFG) access = value;
  if (offset != NVDLA_SDP_S_LUT_ACCESS_DATA) return;
  const std::uint32_t index = access++ & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ADDR_MASK;
  const bool lo = (access & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK) != 0;
  if (lo && index < NVDLA_LUT_LO_ENTRIES)
    tables_[cdp].lo[index] = static_cast<std::uint16_t>(value);
  if (!lo && index < NVDLA_LUT_LE_ENTRIES)
    tables_[cdp].le[index] = static_cast<std::uint16_t>(value);
}

std::uint32_t LaunchRegisters::read(model::Unit unit, std::uint32_t offset) const {
  const auto* info = model::find_register(map_, unit, offset);
  const auto base = model::unit_base(map_, unit);
  if (info == nullptr || !base)
    throw LiftError("no register " + std::to_string(offset) + " in " +
                    std::string(model::unit_name(unit)));
  const auto found = values_.find(*base + offset);
  return found != values_.end() ? found->second : info->reset[map_];
}

bool LaunchRegisters::enabled(model::Unit unit) const {
  constexpr std::uint32_t kOpEnables[] = NVDLA_UNIT_OP_ENABLES;
  const auto base = model::unit_base(map_, unit);
  if (!base || kOpEnables[unit] == NVDLA_NO_REG) return false;
  const auto found = values_.find(*base + kOpEnables[unit]);
  return found != values_.end() && (found->second & 1) != 0;
}

namespace {

// A field of a register, by the names of the generated header.
#define GET(unit, reg, field)                                   \
  ((registers_->read(NVDLA_UNIT_##unit, NVDLA_##unit##_##reg) & \
    NVDLA_##unit##_##reg##_##field##_MASK) >>                   \
   NVDLA_##unit##_##reg##_##field##_SHIFT)
#define WHOLE(unit, reg) registers_->read(NVDLA_UNIT_##unit, NVDLA_##unit##_##reg)

std::int32_t sign_extend(std::uint32_t value, unsigned bits) {
  const unsigned shift = 32 - bits;
  return static_cast<std::int32_t>(value << shift) >> shift;
}

class Lifter {
 public:
  Lifter(const nvdla_hw& hw, std::span<const LaunchMemory> memories)
      : hw_(hw), memories_(memories) {
    for (const auto& memory : memories) add_slot(memory);
  }

  void add(const LaunchRegisters& launch) {
    registers_ = &launch;
    layer_ = {};
    const bool conv = registers_->enabled(NVDLA_UNIT_CDMA);
    const bool sdp = registers_->enabled(NVDLA_UNIT_SDP);
    const bool pdp = registers_->enabled(NVDLA_UNIT_PDP);
    if (!registers_->commands().empty()) {
      lift_bdma();
      layer_.kind = NVDLA_LAYER_BDMA;
    } else if (registers_->enabled(NVDLA_UNIT_RBK)) {
      lift_rubik();
      layer_.kind = NVDLA_LAYER_RUBIK;
    } else if (registers_->enabled(NVDLA_UNIT_CDP)) {
      lift_cdp();
      layer_.kind = NVDLA_LAYER_CDP;
    } else if (pdp && !sdp) {
      lift_pdp(false);
      layer_.kind = NVDLA_LAYER_PDP;
    } else if (sdp) {
      if (conv) lift_conv();
      lift_sdp(conv, pdp);
      if (pdp) lift_pdp(true);
      layer_.kind = conv  ? pdp ? NVDLA_LAYER_CONV_SDP_PDP : NVDLA_LAYER_CONV_SDP
                    : pdp ? NVDLA_LAYER_SDP_PDP
                          : NVDLA_LAYER_SDP;
    } else {
      throw LiftError("nothing that a layer can end in is enabled");
    }
    result_.layers.push_back(layer_);
  }

  Lifted take() { return std::move(result_); }

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
    for (std::uint32_t i = 0; i < result_.slots.size(); i++) {
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
    conv.cvt_scale = sign_extend(WHOLE(CDMA, D_CVT_SCALE), 16);
    conv.cvt_truncate = GET(CDMA, D_CVT_CFG, CVT_TRUNCATE);
    if (image && GET(CDMA, D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE))
      conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
    if (!image || !WHOLE(CDMA, D_MEAN_FORMAT)) {
      conv.cvt_offset = sign_extend(WHOLE(CDMA, D_CVT_OFFSET), 16);
      return;
    }
    conv.flags |= NVDLA_CONV_MEAN;
    const std::uint32_t components = GET(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
    const std::uint32_t means[] = {
        GET(CDMA, D_MEAN_GLOBAL_0, MEAN_RY), GET(CDMA, D_MEAN_GLOBAL_0, MEAN_GU),
        GET(CDMA, D_MEAN_GLOBAL_1, MEAN_BV), GET(CDMA, D_MEAN_GLOBAL_1, MEAN_AX)};
    for (std::uint32_t i = 0; i < components && i < 4; i++)
      conv.mean[i] = sign_extend(means[i], 16);
  }

  void lift_conv() {
    nvdla_conv& conv = layer_.conv;
    if (GET(CDMA, D_MISC_CFG, CONV_MODE) != NVDLA_CDMA_D_MISC_CFG_CONV_MODE_DIRECT)
      throw LiftError("Winograd is not lifted");
    const bool image = GET(CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT) != 0;
    conv.mode = image ? NVDLA_CONV_IMAGE : NVDLA_CONV_DIRECT;
    if (GET(CDMA, D_MISC_CFG, DATA_REUSE)) conv.flags |= NVDLA_CONV_REUSE_DATA;
    if (GET(CDMA, D_MISC_CFG, WEIGHT_REUSE)) conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    if (GET(CDMA, D_MISC_CFG, SKIP_DATA_RLS)) conv.flags |= NVDLA_CONV_KEEP_DATA;
    if (GET(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS)) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
    if (GET(CDMA, D_WEIGHT_FORMAT, WEIGHT_FORMAT)) conv.flags |= NVDLA_CONV_COMPRESSED;
    conv.in_precision = GET(CDMA, D_MISC_CFG, IN_PRECISION);
    // fp16 pixels pass the converter unchanged.
    if (GET(CDMA, D_CVT_CFG, CVT_EN) && !(image && conv.in_precision == NVDLA_PRECISION_FP16))
      conv.flags |= NVDLA_CONV_CONVERT;
    conv.proc_precision = GET(CDMA, D_MISC_CFG, PROC_PRECISION);
    if (conv.proc_precision == NVDLA_PRECISION_FP16 && GET(CDMA, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO))
      conv.flags |= NVDLA_CONV_NAN_TO_ZERO;

    if (conv.flags & NVDLA_CONV_CONVERT) lift_converter(conv, image);

    conv.width = GET(CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
    conv.height = GET(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
    conv.channels = GET(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
    conv.batch = GET(CDMA, D_BATCH_NUMBER, BATCHES) + 1;
    conv.kernels = GET(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1;
    conv.kernel_width = GET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT) + 1;
    conv.kernel_height = GET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;
    // The width of the kernel is folded into its channels.
    if (image)
      conv.kernel_width = (GET(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT) + 1) / conv.channels;
    conv.stride_x = GET(CDMA, D_CONV_STRIDE, CONV_X_STRIDE) + 1;
    conv.stride_y = GET(CDMA, D_CONV_STRIDE, CONV_Y_STRIDE) + 1;
    conv.dilation_x = GET(CSC, D_DILATION_EXT, X_DILATION_EXT) + 1;
    conv.dilation_y = GET(CSC, D_DILATION_EXT, Y_DILATION_EXT) + 1;
    conv.pad_left = GET(CDMA, D_ZERO_PADDING, PAD_LEFT);
    conv.pad_right = GET(CDMA, D_ZERO_PADDING, PAD_RIGHT);
    conv.pad_top = GET(CDMA, D_ZERO_PADDING, PAD_TOP);
    conv.pad_bottom = GET(CDMA, D_ZERO_PADDING, PAD_BOTTOM);
    const std::uint32_t pad = GET(CSC, D_ZERO_PADDING_VALUE, PAD_VALUE);
    conv.pad_value = conv.proc_precision == NVDLA_PRECISION_INT8 ? sign_extend(pad, 8)
                     : conv.proc_precision == NVDLA_PRECISION_INT16
                         ? sign_extend(pad, 16)
                         : static_cast<std::int32_t>(pad);
    conv.data_banks = GET(CDMA, D_BANK, DATA_BANK) + 1;
    conv.weight_banks = GET(CDMA, D_BANK, WEIGHT_BANK) + 1;
    if (!image) conv.fetch_grain = GET(CDMA, D_FETCH_GRAIN, GRAINS) + 1;
    if ((conv.flags & NVDLA_CONV_KEEP_DATA) == 0)
      conv.release = GET(CSC, D_RELEASE, RLS_SLICES) + 1;
    conv.post_extension = 1u << GET(CSC, D_POST_Y_EXTENSION, Y_EXTENSION);
    conv.clip_truncate = GET(CACC, D_CLIP_CFG, CLIP_TRUNCATE);

    conv.input = surface(GET(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE),
                         WHOLE(CDMA, D_DAIN_ADDR_HIGH_0), WHOLE(CDMA, D_DAIN_ADDR_LOW_0),
                         WHOLE(CDMA, D_LINE_STRIDE), image ? 0 : WHOLE(CDMA, D_SURF_STRIDE));
    if (image) {
      conv.pixel_format = GET(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT);
      conv.pixel_x_offset = GET(CDMA, D_PIXEL_OFFSET, PIXEL_X_OFFSET);
      if (conv.pixel_format >= NVDLA_PIXEL_Y8_U8V8)
        conv.input_uv =
            surface(GET(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE), WHOLE(CDMA, D_DAIN_ADDR_HIGH_1),
                    WHOLE(CDMA, D_DAIN_ADDR_LOW_1), WHOLE(CDMA, D_LINE_UV_STRIDE), 0);
    }
    if (conv.batch > 1) conv.input.batch_stride = WHOLE(CDMA, D_BATCH_STRIDE);
    // A part of the lines may be there already: the address is of the rest.
    const std::uint32_t kept = conv.height - (GET(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1);
    conv.input.offset -= std::uint64_t{kept} * conv.input.line_stride;
    const Place weights = place(GET(CDMA, D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE),
                                WHOLE(CDMA, D_WEIGHT_ADDR_HIGH), WHOLE(CDMA, D_WEIGHT_ADDR_LOW));
    conv.weights.slot = weights.slot;
    conv.weights.offset = weights.offset;
    conv.weights.bytes = WHOLE(CDMA, D_WEIGHT_BYTES);
  }

  // One of the operators that differ in nothing but where their registers are.
  struct XRegisters {
    std::uint32_t cfg, alu_cfg, alu_value, mul_cfg, mul_value;
    std::uint32_t rdma_cfg, low, high, line, surface;
  };

  void lift_x(nvdla_sdp_x& x, const XRegisters& at, std::uint32_t proc) {
    const std::uint32_t cfg = registers_->read(NVDLA_UNIT_SDP, at.cfg);
    if (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_BYPASS_MASK) return;
    const std::uint32_t alu_cfg = registers_->read(NVDLA_UNIT_SDP, at.alu_cfg);
    const std::uint32_t mul_cfg = registers_->read(NVDLA_UNIT_SDP, at.mul_cfg);
    const bool alu = (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_ALU_BYPASS_MASK) == 0;
    const bool mul = (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_MUL_BYPASS_MASK) == 0;
    const bool alu_memory = alu && (alu_cfg & 1) != 0;
    const bool mul_memory = mul && (mul_cfg & 1) != 0;

    x.flags = NVDLA_SDP_ENABLE;
    if ((cfg & NVDLA_SDP_D_DP_BS_CFG_BS_RELU_BYPASS_MASK) == 0) x.flags |= NVDLA_SDP_RELU;
    if (alu) {
      x.alu = NVDLA_ALU_MAX + (cfg >> NVDLA_SDP_D_DP_BS_CFG_BS_ALU_ALGO_SHIFT & 3);
      x.alu_shift = proc == NVDLA_PRECISION_FP16
                        ? 0
                        : alu_cfg >> NVDLA_SDP_D_DP_BS_ALU_CFG_BS_ALU_SHIFT_VALUE_SHIFT & 0x3f;
    }
    if (mul)
      x.mul = cfg & NVDLA_SDP_D_DP_BS_CFG_BS_MUL_PRELU_MASK ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
    if (proc != NVDLA_PRECISION_FP16)
      x.mul_shift = mul_cfg >> NVDLA_SDP_D_DP_BS_MUL_CFG_BS_MUL_SHIFT_VALUE_SHIFT & 0xff;
    if (alu && mul && alu_memory != mul_memory)
      throw LiftError("operands of one operator from a register and from memory");
    if (alu_memory || mul_memory) {
      const std::uint32_t dma = registers_->read(NVDLA_UNIT_SDP_RDMA, at.rdma_cfg);
      const bool element = (dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_MODE_MASK) != 0;
      x.mode = element ? NVDLA_OPERAND_ELEMENT : NVDLA_OPERAND_CHANNEL;
      x.operand_bytes = dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_SIZE_MASK ? 2 : 1;
      x.operand = surface(dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_RAM_TYPE_MASK,
                          registers_->read(NVDLA_UNIT_SDP_RDMA, at.high),
                          registers_->read(NVDLA_UNIT_SDP_RDMA, at.low),
                          element ? registers_->read(NVDLA_UNIT_SDP_RDMA, at.line) : 0,
                          element ? registers_->read(NVDLA_UNIT_SDP_RDMA, at.surface) : 0);
      return;
    }
    const auto value = [&](std::uint32_t offset) {
      const std::uint32_t raw = registers_->read(NVDLA_UNIT_SDP, offset) & 0xffff;
      return proc == NVDLA_PRECISION_FP16 ? static_cast<std::int32_t>(raw) : sign_extend(raw, 16);
    };
    if (alu) x.alu_value = value(at.alu_value);
    if (mul) x.mul_value = value(at.mul_value);
  }

  void lift_y(nvdla_sdp_y& y, std::uint32_t proc) {
    if (GET(SDP, D_DP_EW_CFG, EW_BYPASS)) return;
    const bool real = proc == NVDLA_PRECISION_FP16;
    const bool alu = !GET(SDP, D_DP_EW_CFG, EW_ALU_BYPASS);
    const bool mul = !GET(SDP, D_DP_EW_CFG, EW_MUL_BYPASS);
    const bool alu_memory = alu && GET(SDP, D_DP_EW_ALU_CFG, EW_ALU_SRC);
    const bool mul_memory = mul && GET(SDP, D_DP_EW_MUL_CFG, EW_MUL_SRC);
    y.flags = NVDLA_SDP_ENABLE;
    if (alu) y.alu = NVDLA_ALU_MAX + GET(SDP, D_DP_EW_CFG, EW_ALU_ALGO);
    if (mul) y.mul = GET(SDP, D_DP_EW_CFG, EW_MUL_PRELU) ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
    if (mul && !real) y.mul_truncate = GET(SDP, D_DP_EW_TRUNCATE_VALUE, EW_TRUNCATE);
    if (alu && mul && alu_memory != mul_memory)
      throw LiftError("operands of one operator from a register and from memory");
    if (alu_memory || mul_memory) {
      const bool element = GET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DATA_MODE);
      y.mode = element ? NVDLA_OPERAND_ELEMENT : NVDLA_OPERAND_CHANNEL;
      y.operand_bytes = GET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DATA_SIZE) + 1;
      y.operand = surface(GET(SDP_RDMA, D_ERDMA_CFG, ERDMA_RAM_TYPE),
                          WHOLE(SDP_RDMA, D_EW_BASE_ADDR_HIGH), WHOLE(SDP_RDMA, D_EW_BASE_ADDR_LOW),
                          element ? WHOLE(SDP_RDMA, D_EW_LINE_STRIDE) : 0,
                          element ? WHOLE(SDP_RDMA, D_EW_SURFACE_STRIDE) : 0);
      if (alu && !real && !GET(SDP, D_DP_EW_ALU_CFG, EW_ALU_CVT_BYPASS)) {
        y.flags |= NVDLA_SDP_CONVERT_ALU;
        y.alu_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_ALU_CVT_OFFSET_VALUE));
        y.alu_cvt.scale = sign_extend(WHOLE(SDP, D_DP_EW_ALU_CVT_SCALE_VALUE), 16);
        y.alu_cvt.truncate = WHOLE(SDP, D_DP_EW_ALU_CVT_TRUNCATE_VALUE);
      }
      if (mul && !real && !GET(SDP, D_DP_EW_MUL_CFG, EW_MUL_CVT_BYPASS)) {
        y.flags |= NVDLA_SDP_CONVERT_MUL;
        y.mul_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_MUL_CVT_OFFSET_VALUE));
        y.mul_cvt.scale = sign_extend(WHOLE(SDP, D_DP_EW_MUL_CVT_SCALE_VALUE), 16);
        y.mul_cvt.truncate = WHOLE(SDP, D_DP_EW_MUL_CVT_TRUNCATE_VALUE);
      }
    } else {
      if (alu) y.alu_value = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_ALU_SRC_VALUE));
      if (mul) y.mul_value = static_cast<std::int32_t>(WHOLE(SDP, D_DP_EW_MUL_SRC_VALUE));
    }
    if (!GET(SDP, D_DP_EW_CFG, EW_LUT_BYPASS)) {
      y.flags |= NVDLA_SDP_LUT;
      lift_lut(NVDLA_LUT_SDP, proc);
    }
  }

  void lift_sdp(bool flying, bool pooled) {
    nvdla_sdp& sdp = layer_.sdp;
    sdp.proc_precision = GET(SDP, D_DATA_FORMAT, PROC_PRECISION);
    sdp.out_precision = GET(SDP, D_DATA_FORMAT, OUT_PRECISION);
    const bool real = sdp.proc_precision == NVDLA_PRECISION_FP16;
    if (real && GET(SDP, D_FEATURE_MODE_CFG, NAN_TO_ZERO)) sdp.flags |= NVDLA_SDP_NAN_TO_ZERO;
    if (!flying) {
      sdp.in_precision = GET(SDP_RDMA, D_FEATURE_MODE_CFG, IN_PRECISION);
      sdp.width = GET(SDP, D_DATA_CUBE_WIDTH, WIDTH) + 1;
      sdp.height = GET(SDP, D_DATA_CUBE_HEIGHT, HEIGHT) + 1;
      sdp.channels = GET(SDP, D_DATA_CUBE_CHANNEL, CHANNEL) + 1;
      sdp.input =
          surface(GET(SDP_RDMA, D_SRC_DMA_CFG, SRC_RAM_TYPE), WHOLE(SDP_RDMA, D_SRC_BASE_ADDR_HIGH),
                  WHOLE(SDP_RDMA, D_SRC_BASE_ADDR_LOW), WHOLE(SDP_RDMA, D_SRC_LINE_STRIDE),
                  WHOLE(SDP_RDMA, D_SRC_SURFACE_STRIDE));
    }
    lift_x(sdp.x1,
           {NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE,
            NVDLA_SDP_D_DP_BS_MUL_CFG, NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_BRDMA_CFG,
            NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH,
            NVDLA_SDP_RDMA_D_BS_LINE_STRIDE, NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE},
           sdp.proc_precision);
    lift_x(sdp.x2,
           {NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG, NVDLA_SDP_D_DP_BN_ALU_SRC_VALUE,
            NVDLA_SDP_D_DP_BN_MUL_CFG, NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE, NVDLA_SDP_RDMA_D_NRDMA_CFG,
            NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH,
            NVDLA_SDP_RDMA_D_BN_LINE_STRIDE, NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE},
           sdp.proc_precision);
    lift_y(sdp.y, sdp.proc_precision);
    if (!real) {
      sdp.out_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_CVT_OFFSET));
      sdp.out_cvt.scale = sign_extend(WHOLE(SDP, D_CVT_SCALE), 16);
      sdp.out_cvt.truncate = GET(SDP, D_CVT_SHIFT, CVT_SHIFT);
    }
    if (pooled || sdp.y.alu == NVDLA_ALU_EQUAL) return;
    sdp.output = surface(GET(SDP, D_DST_DMA_CFG, DST_RAM_TYPE), WHOLE(SDP, D_DST_BASE_ADDR_HIGH),
                         WHOLE(SDP, D_DST_BASE_ADDR_LOW), WHOLE(SDP, D_DST_LINE_STRIDE),
                         WHOLE(SDP, D_DST_SURFACE_STRIDE));
  }

  void lift_pdp(bool flying) {
    nvdla_pdp& pdp = layer_.pdp;
    const std::uint32_t precision = GET(PDP, D_DATA_FORMAT, INPUT_DATA);
    const bool real = precision == NVDLA_PRECISION_FP16;
    pdp.method = GET(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD);
    if (real && GET(PDP, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO)) pdp.flags = NVDLA_PDP_NAN_TO_ZERO;
    if (!flying) {
      pdp.precision = precision;
      pdp.width = GET(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1;
      pdp.height = GET(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1;
      pdp.channels = GET(PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1;
      pdp.input =
          surface(GET(PDP_RDMA, D_SRC_RAM_CFG, SRC_RAM_TYPE), WHOLE(PDP_RDMA, D_SRC_BASE_ADDR_HIGH),
                  WHOLE(PDP_RDMA, D_SRC_BASE_ADDR_LOW), WHOLE(PDP_RDMA, D_SRC_LINE_STRIDE),
                  WHOLE(PDP_RDMA, D_SRC_SURFACE_STRIDE));
    }
    pdp.kernel_width = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH) + 1;
    pdp.kernel_height = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT) + 1;
    pdp.stride_x = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH) + 1;
    pdp.stride_y = GET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT) + 1;
    pdp.pad_left = GET(PDP, D_POOLING_PADDING_CFG, PAD_LEFT);
    pdp.pad_right = GET(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT);
    pdp.pad_top = GET(PDP, D_POOLING_PADDING_CFG, PAD_TOP);
    pdp.pad_bottom = GET(PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM);
    if (pdp.method == NVDLA_POOL_AVERAGE) {
      pdp.recip_width = GET(PDP, D_RECIP_KERNEL_WIDTH, RECIP_KERNEL_WIDTH);
      pdp.recip_height = GET(PDP, D_RECIP_KERNEL_HEIGHT, RECIP_KERNEL_HEIGHT);
      const bool padded = (pdp.pad_left | pdp.pad_right | pdp.pad_top | pdp.pad_bottom) != 0;
      for (std::uint32_t i = 0; padded && i < 7; i++) {
        const std::uint32_t value =
            registers_->read(NVDLA_UNIT_PDP, NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + 4 * i);
        pdp.pad_value[i] =
            real ? static_cast<std::int32_t>(value & 0x1ffff) : sign_extend(value, 19);
      }
    }
    pdp.bands = GET(PDP, D_OPERATION_MODE_CFG, SPLIT_NUM) + 1;
    if (pdp.bands > 1) pdp.first_out = GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST) + 1;
    if (pdp.bands > 2) pdp.mid_out = GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID) + 1;
    pdp.output = surface(GET(PDP, D_DST_RAM_CFG, DST_RAM_TYPE), WHOLE(PDP, D_DST_BASE_ADDR_HIGH),
                         WHOLE(PDP, D_DST_BASE_ADDR_LOW), WHOLE(PDP, D_DST_LINE_STRIDE),
                         WHOLE(PDP, D_DST_SURFACE_STRIDE));
  }

  void lift_cdp() {
    nvdla_cdp& cdp = layer_.cdp;
    cdp.precision = GET(CDP, D_DATA_FORMAT, INPUT_DATA_TYPE);
    if (GET(CDP, D_FUNC_BYPASS, SQSUM_BYPASS))
      cdp.flags |= NVDLA_CDP_BYPASS_SQUARE_SUM;
    else
      cdp.window = 2 * GET(CDP, D_LRN_CFG, NORMALZ_LEN) + 3;
    if (GET(CDP, D_FUNC_BYPASS, MUL_BYPASS)) cdp.flags |= NVDLA_CDP_BYPASS_MUL;
    cdp.width = GET(CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1;
    cdp.height = GET(CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1;
    cdp.channels = GET(CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL) + 1;
    if (cdp.precision == NVDLA_PRECISION_FP16) {
      if (GET(CDP, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO)) cdp.flags |= NVDLA_CDP_NAN_TO_ZERO;
    } else {
      const bool narrow = cdp.precision == NVDLA_PRECISION_INT8;
      cdp.in_cvt.offset = sign_extend(WHOLE(CDP, D_DATIN_OFFSET), narrow ? 8 : 16);
      cdp.in_cvt.scale = sign_extend(WHOLE(CDP, D_DATIN_SCALE), 16);
      cdp.in_cvt.truncate = WHOLE(CDP, D_DATIN_SHIFTER);
      cdp.out_cvt.offset = sign_extend(WHOLE(CDP, D_DATOUT_OFFSET), narrow ? 25 : 32);
      cdp.out_cvt.scale = sign_extend(WHOLE(CDP, D_DATOUT_SCALE), 16);
      cdp.out_cvt.truncate = WHOLE(CDP, D_DATOUT_SHIFTER);
    }
    cdp.input = surface(GET(CDP_RDMA, D_SRC_DMA_CFG, SRC_RAM_TYPE),
                        WHOLE(CDP_RDMA, D_SRC_BASE_ADDR_HIGH), WHOLE(CDP_RDMA, D_SRC_BASE_ADDR_LOW),
                        WHOLE(CDP_RDMA, D_SRC_LINE_STRIDE), WHOLE(CDP_RDMA, D_SRC_SURFACE_STRIDE));
    cdp.output = surface(GET(CDP, D_DST_DMA_CFG, DST_RAM_TYPE), WHOLE(CDP, D_DST_BASE_ADDR_HIGH),
                         WHOLE(CDP, D_DST_BASE_ADDR_LOW), WHOLE(CDP, D_DST_LINE_STRIDE),
                         WHOLE(CDP, D_DST_SURFACE_STRIDE));
    lift_lut(NVDLA_LUT_CDP, cdp.precision);
  }

  // Registers whose number does not count: an exponential table has no step, a
  // linear one no exponent, fp16 no shift of slopes.
  void lift_lut(std::uint32_t lut_unit, std::uint32_t precision) {
    const model::Unit unit = lut_unit == NVDLA_LUT_CDP ? NVDLA_UNIT_CDP : NVDLA_UNIT_SDP;
    const bool real = precision == NVDLA_PRECISION_FP16;
    nvdla_lut lut{};
    lut.unit = lut_unit;
    const std::uint32_t cfg = registers_->read(unit, NVDLA_SDP_S_LUT_CFG);
    if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_LE_FUNCTION_MASK) lut.flags |= NVDLA_LUT_LE_LINEAR;
    if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_UFLOW_PRIORITY_MASK) lut.flags |= NVDLA_LUT_UNDERFLOW_LO;
    if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_OFLOW_PRIORITY_MASK) lut.flags |= NVDLA_LUT_OVERFLOW_LO;
    if (cfg & NVDLA_SDP_S_LUT_CFG_LUT_HYBRID_PRIORITY_MASK) lut.flags |= NVDLA_LUT_HYBRID_LO;
    const std::uint32_t info = registers_->read(unit, NVDLA_SDP_S_LUT_INFO);
    if (lut.flags & NVDLA_LUT_LE_LINEAR)
      lut.le_index_select = sign_extend(info >> 8, 8);
    else
      lut.le_index_offset = sign_extend(info, 8);
    lut.lo_index_select = sign_extend(info >> 16, 8);

    const auto input = [&](std::uint32_t index) -> std::int64_t {
      if (unit == NVDLA_UNIT_SDP) {
        const std::uint32_t value = registers_->read(unit, NVDLA_SDP_S_LUT_LE_START + 4 * index);
        return real ? std::int64_t{value} : std::int64_t{static_cast<std::int32_t>(value)};
      }
      const std::uint64_t low = registers_->read(unit, NVDLA_CDP_S_LUT_LE_START_LOW + 8 * index);
      const std::uint64_t high = registers_->read(unit, NVDLA_CDP_S_LUT_LE_START_HIGH + 8 * index);
      if (real) return static_cast<std::int64_t>(low);
      const unsigned shift = precision == NVDLA_PRECISION_INT8 ? 64 - 22 : 64 - 38;
      return static_cast<std::int64_t>((high << 32 | low) << shift) >> shift;
    };
    lut.le_start = input(0);
    lut.le_end = input(1);
    lut.lo_start = input(2);
    lut.lo_end = input(3);
    const std::uint32_t slopes =
        unit == NVDLA_UNIT_CDP ? NVDLA_CDP_S_LUT_LE_SLOPE_SCALE : NVDLA_SDP_S_LUT_LE_SLOPE_SCALE;
    const auto slope = [&](std::uint32_t at, bool over) {
      const std::uint32_t scale = registers_->read(unit, slopes + at) >> (over ? 16 : 0) & 0xffff;
      const std::uint32_t shift = registers_->read(unit, slopes + at + 4) >> (over ? 5 : 0) & 0x1f;
      if (real) return nvdla_lut_slope{static_cast<std::int32_t>(scale), 0};
      return nvdla_lut_slope{sign_extend(scale, 16), sign_extend(shift, 5)};
    };
    lut.le_underflow = slope(0, false);
    lut.le_overflow = slope(0, true);
    lut.lo_underflow = slope(8, false);
    lut.lo_overflow = slope(8, true);
    const auto& tables = registers_->tables(unit);
    std::copy(tables.le.begin(), tables.le.end(), lut.le);
    std::copy(tables.lo.begin(), tables.lo.end(), lut.lo);
    result_.luts.push_back(lut);
    layer_.lut = static_cast<std::uint32_t>(result_.luts.size());
  }

  void lift_rubik() {
    nvdla_rubik& rubik = layer_.rubik;
    rubik.mode = GET(RBK, D_MISC_CFG, RUBIK_MODE);
    rubik.precision = GET(RBK, D_MISC_CFG, IN_PRECISION);
    rubik.width = GET(RBK, D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
    rubik.height = GET(RBK, D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
    rubik.channels = GET(RBK, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
    if (rubik.mode == NVDLA_RUBIK_CONTRACT) {
      rubik.stride_x = GET(RBK, D_DECONV_STRIDE, DECONV_X_STRIDE) + 1;
      rubik.stride_y = GET(RBK, D_DECONV_STRIDE, DECONV_Y_STRIDE) + 1;
    }
    const std::uint32_t in = rubik.mode == NVDLA_RUBIK_MERGE ? WHOLE(RBK, D_DAIN_PLANAR_STRIDE)
                                                             : WHOLE(RBK, D_DAIN_SURF_STRIDE);
    const std::uint32_t out = rubik.mode == NVDLA_RUBIK_SPLIT ? WHOLE(RBK, D_DAOUT_PLANAR_STRIDE)
                                                              : WHOLE(RBK, D_DAOUT_SURF_STRIDE);
    rubik.input = surface(GET(RBK, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE), WHOLE(RBK, D_DAIN_ADDR_HIGH),
                          WHOLE(RBK, D_DAIN_ADDR_LOW), WHOLE(RBK, D_DAIN_LINE_STRIDE), in);
    rubik.output =
        surface(GET(RBK, D_DAOUT_RAM_TYPE, DATAOUT_RAM_TYPE), WHOLE(RBK, D_DAOUT_ADDR_HIGH),
                WHOLE(RBK, D_DAOUT_ADDR_LOW), WHOLE(RBK, D_DAOUT_LINE_STRIDE), out);
  }

  void lift_bdma() {
    layer_.bdma.first_transfer = static_cast<std::uint32_t>(result_.transfers.size());
    for (const auto& command : registers_->commands()) {
      const auto value = [&](std::uint32_t offset) { return command.at(offset); };
      nvdla_transfer transfer{};
      transfer.line_bytes = (value(NVDLA_BDMA_CFG_LINE) + 1) * 32;
      transfer.lines = value(NVDLA_BDMA_CFG_LINE_REPEAT) + 1;
      transfer.surfaces = value(NVDLA_BDMA_CFG_SURF_REPEAT) + 1;
      const std::uint32_t cmd = value(NVDLA_BDMA_CFG_CMD);
      transfer.source =
          surface(cmd & NVDLA_BDMA_CFG_CMD_SRC_RAM_TYPE_MASK, value(NVDLA_BDMA_CFG_SRC_ADDR_HIGH),
                  value(NVDLA_BDMA_CFG_SRC_ADDR_LOW), value(NVDLA_BDMA_CFG_SRC_LINE),
                  value(NVDLA_BDMA_CFG_SRC_SURF));
      transfer.destination =
          surface(cmd & NVDLA_BDMA_CFG_CMD_DST_RAM_TYPE_MASK, value(NVDLA_BDMA_CFG_DST_ADDR_HIGH),
                  value(NVDLA_BDMA_CFG_DST_ADDR_LOW), value(NVDLA_BDMA_CFG_DST_LINE),
                  value(NVDLA_BDMA_CFG_DST_SURF));
      result_.transfers.push_back(transfer);
    }
    layer_.bdma.num_transfers = static_cast<std::uint32_t>(registers_->commands().size());
  }

  const nvdla_hw& hw_;
  const std::span<const LaunchMemory> memories_;
  const LaunchRegisters* registers_ = nullptr;
  nvdla_layer layer_{};
  Lifted result_;
  std::set<std::uint32_t> used_;  // slots
};

}  // namespace

Lifted lift(const nvdla_hw& hw, std::span<const LaunchRegisters> launches,
            std::span<const LaunchMemory> memories) {
  Lifter lifter(hw, memories);
  for (const auto& launch : launches) lifter.add(launch);
  return lifter.take();
}

}  // namespace nvdla::test
