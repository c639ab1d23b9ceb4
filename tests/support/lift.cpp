// SPDX-License-Identifier: MIT
#include "support/lift.hpp"

#include <set>
#include <string>

namespace nvdla::test {

void LaunchRegisters::write(std::uint32_t byte_address, std::uint32_t value) {
  const auto* info = model::register_at(map_, byte_address);
  if (info != nullptr && info->scope == model::Scope::kGroup) values_[byte_address] = value;
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
#define GET(unit, reg, field)                                  \
  ((registers_.read(NVDLA_UNIT_##unit, NVDLA_##unit##_##reg) & \
    NVDLA_##unit##_##reg##_##field##_MASK) >>                  \
   NVDLA_##unit##_##reg##_##field##_SHIFT)
#define WHOLE(unit, reg) registers_.read(NVDLA_UNIT_##unit, NVDLA_##unit##_##reg)

std::int32_t sign_extend(std::uint32_t value, unsigned bits) {
  const unsigned shift = 32 - bits;
  return static_cast<std::int32_t>(value << shift) >> shift;
}

class Lifter {
 public:
  Lifter(const nvdla_hw& hw, const LaunchRegisters& registers,
         std::span<const LaunchMemory> memories)
      : hw_(hw), registers_(registers) {
    for (const auto& memory : memories) add_slot(memory);
  }

  Lifted run() {
    const bool conv = registers_.enabled(NVDLA_UNIT_CDMA);
    if (!registers_.enabled(NVDLA_UNIT_SDP)) throw LiftError("only conv+sdp and sdp are lifted");
    if (conv) lift_conv();
    lift_sdp(conv);
    result_.layer.kind = conv ? NVDLA_LAYER_CONV_SDP : NVDLA_LAYER_SDP;
    return result_;
  }

 private:
  void add_slot(const LaunchMemory& memory) {
    nvdla_slot slot{};
    slot.size = memory.size;
    slot.alignment = hw_.atom;
    slot.memory = NVDLA_MEMORY_DRAM;
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
    for (std::uint32_t i = 0; i < result_.slots.size(); i++) {
      if (address < result_.bases[i] || address - result_.bases[i] >= result_.slots[i].size)
        continue;
      const std::uint32_t memory = ram_type != 0 ? NVDLA_MEMORY_DRAM : NVDLA_MEMORY_SRAM;
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

  void lift_conv() {
    nvdla_conv& conv = result_.layer.conv;
    if (GET(CDMA, D_MISC_CFG, CONV_MODE) != NVDLA_CDMA_D_MISC_CFG_CONV_MODE_DIRECT ||
        GET(CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT) !=
            NVDLA_CDMA_D_DATAIN_FORMAT_DATAIN_FORMAT_FEATURE)
      throw LiftError("only direct convolutions are lifted");
    conv.mode = NVDLA_CONV_DIRECT;
    if (GET(CDMA, D_MISC_CFG, DATA_REUSE)) conv.flags |= NVDLA_CONV_REUSE_DATA;
    if (GET(CDMA, D_MISC_CFG, WEIGHT_REUSE)) conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    if (GET(CDMA, D_MISC_CFG, SKIP_DATA_RLS)) conv.flags |= NVDLA_CONV_KEEP_DATA;
    if (GET(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS)) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
    if (GET(CDMA, D_WEIGHT_FORMAT, WEIGHT_FORMAT)) conv.flags |= NVDLA_CONV_COMPRESSED;
    if (GET(CDMA, D_CVT_CFG, CVT_EN)) conv.flags |= NVDLA_CONV_CONVERT;
    conv.in_precision = GET(CDMA, D_MISC_CFG, IN_PRECISION);
    conv.proc_precision = GET(CDMA, D_MISC_CFG, PROC_PRECISION);
    if (conv.proc_precision == NVDLA_PRECISION_FP16 && GET(CDMA, D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO))
      conv.flags |= NVDLA_CONV_NAN_TO_ZERO;

    conv.width = GET(CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
    conv.height = GET(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
    conv.channels = GET(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
    conv.batch = GET(CDMA, D_BATCH_NUMBER, BATCHES) + 1;
    conv.kernels = GET(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1;
    conv.kernel_width = GET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT) + 1;
    conv.kernel_height = GET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;
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
    conv.fetch_grain = GET(CDMA, D_FETCH_GRAIN, GRAINS) + 1;
    if ((conv.flags & NVDLA_CONV_KEEP_DATA) == 0)
      conv.release = GET(CSC, D_RELEASE, RLS_SLICES) + 1;
    conv.post_extension = 1u << GET(CSC, D_POST_Y_EXTENSION, Y_EXTENSION);
    conv.clip_truncate = GET(CACC, D_CLIP_CFG, CLIP_TRUNCATE);

    conv.input = surface(GET(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE),
                         WHOLE(CDMA, D_DAIN_ADDR_HIGH_0), WHOLE(CDMA, D_DAIN_ADDR_LOW_0),
                         WHOLE(CDMA, D_LINE_STRIDE), WHOLE(CDMA, D_SURF_STRIDE));
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
    const std::uint32_t cfg = registers_.read(NVDLA_UNIT_SDP, at.cfg);
    if (cfg & NVDLA_SDP_D_DP_BS_CFG_BS_BYPASS_MASK) return;
    const std::uint32_t alu_cfg = registers_.read(NVDLA_UNIT_SDP, at.alu_cfg);
    const std::uint32_t mul_cfg = registers_.read(NVDLA_UNIT_SDP, at.mul_cfg);
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
      const std::uint32_t dma = registers_.read(NVDLA_UNIT_SDP_RDMA, at.rdma_cfg);
      const bool element = (dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_MODE_MASK) != 0;
      x.mode = element ? NVDLA_OPERAND_ELEMENT : NVDLA_OPERAND_CHANNEL;
      x.operand_bytes = dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DATA_SIZE_MASK ? 2 : 1;
      x.operand = surface(dma & NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_RAM_TYPE_MASK,
                          registers_.read(NVDLA_UNIT_SDP_RDMA, at.high),
                          registers_.read(NVDLA_UNIT_SDP_RDMA, at.low),
                          element ? registers_.read(NVDLA_UNIT_SDP_RDMA, at.line) : 0,
                          element ? registers_.read(NVDLA_UNIT_SDP_RDMA, at.surface) : 0);
      return;
    }
    const auto value = [&](std::uint32_t offset) {
      const std::uint32_t raw = registers_.read(NVDLA_UNIT_SDP, offset) & 0xffff;
      return proc == NVDLA_PRECISION_FP16 ? static_cast<std::int32_t>(raw) : sign_extend(raw, 16);
    };
    if (alu) x.alu_value = value(at.alu_value);
    if (mul) x.mul_value = value(at.mul_value);
  }

  void lift_sdp(bool flying) {
    nvdla_sdp& sdp = result_.layer.sdp;
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
    if (GET(SDP, D_DP_EW_CFG, EW_BYPASS) == 0) sdp.y.flags = NVDLA_SDP_ENABLE;  // no more of it yet
    if (!real) {
      sdp.out_cvt.offset = static_cast<std::int32_t>(WHOLE(SDP, D_CVT_OFFSET));
      sdp.out_cvt.scale = sign_extend(WHOLE(SDP, D_CVT_SCALE), 16);
      sdp.out_cvt.truncate = GET(SDP, D_CVT_SHIFT, CVT_SHIFT);
    }
    sdp.output = surface(GET(SDP, D_DST_DMA_CFG, DST_RAM_TYPE), WHOLE(SDP, D_DST_BASE_ADDR_HIGH),
                         WHOLE(SDP, D_DST_BASE_ADDR_LOW), WHOLE(SDP, D_DST_LINE_STRIDE),
                         WHOLE(SDP, D_DST_SURFACE_STRIDE));
  }

  const nvdla_hw& hw_;
  const LaunchRegisters& registers_;
  Lifted result_;
  std::set<std::uint32_t> used_;  // slots
};

}  // namespace

Lifted lift(const nvdla_hw& hw, const LaunchRegisters& registers,
            std::span<const LaunchMemory> memories) {
  return Lifter(hw, registers, memories).run();
}

}  // namespace nvdla::test
