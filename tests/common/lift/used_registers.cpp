// SPDX-License-Identifier: MIT
#include "common/lift/used_registers.hpp"

#include <set>
#include <stdexcept>

namespace nvdla::test {
namespace {

// Columns and lines of padding behind a pooling that the last window does not reach.
struct Unreached {
  std::uint32_t columns, lines;
};

Unreached unreached_padding(const nvdla_layer& layer) {
  const nvdla_pdp& pdp = layer.pdp;
  const nvdla_conv& conv = layer.conv;
  std::uint32_t width = pdp.width, height = pdp.height;
  if (layer.kind == NVDLA_LAYER_SDP_PDP) {
    width = layer.sdp.width;
    height = layer.sdp.height;
  }
  if (layer.kind == NVDLA_LAYER_CONV_SDP_PDP) {
    const std::uint32_t columns = (conv.kernel_width - 1) * conv.dilation_width + 1;
    const std::uint32_t lines = (conv.kernel_height - 1) * conv.dilation_height + 1;
    width = (conv.pad_left + conv.width + conv.pad_right - columns) / conv.stride_width + 1;
    height = (conv.pad_top + conv.height + conv.pad_bottom - lines) / conv.stride_height + 1;
  }
  return {(pdp.pad_left + width + pdp.pad_right - pdp.kernel_width) % pdp.stride_width,
          (pdp.pad_top + height + pdp.pad_bottom - pdp.kernel_height) % pdp.stride_height};
}

// Bits of a register that have an effect in this layer. Traces hold random
// numbers in all others, so they show a bit that is wrongly in this list.
class Used {
 public:
  explicit Used(const nvdla_layer& layer) : layer_(layer) {}

  std::uint32_t mask(model::Unit unit, const std::string& name) const {
    // A choice of the program; spare bits; operands of one batch.
    static const std::set<std::string> never = {"D_PERF_ENABLE",     "D_CYA",
                                                "D_BS_BATCH_STRIDE", "D_BN_BATCH_STRIDE",
                                                "D_RESERVED_X_CFG",  "D_RESERVED_Y_CFG",
                                                "D_EW_BATCH_STRIDE"};
    const bool winograd = layer_.conv.mode == NVDLA_CONV_WINOGRAD;
    if (name == "D_PRA_CFG") return winograd && !real() ? ~0u : 0;
    if (name == "D_BATCH_STRIDE" || name == "D_DST_BATCH_STRIDE")
      return layer_.conv.batch > 1 ? ~0u : 0;
    if (never.contains(name)) return 0;
    if (starts(name, "D_WGS_") || starts(name, "D_WMB_"))
      return (layer_.conv.flags & NVDLA_CONV_COMPRESSED) != 0 ? ~0u : 0;
    switch (unit) {
      case NVDLA_UNIT_CDMA:
        return cdma_mask(name);
      case NVDLA_UNIT_CSC:
        return name == "D_ZERO_PADDING_VALUE" ? pad_mask() : ~0u;
      case NVDLA_UNIT_CACC:
        return cacc_mask(name);
      case NVDLA_UNIT_SDP:
        return sdp_mask(name);
      case NVDLA_UNIT_SDP_RDMA:
        return rdma_mask(name);
      case NVDLA_UNIT_PDP:
      case NVDLA_UNIT_PDP_RDMA:
        return pdp_mask(unit, name);
      case NVDLA_UNIT_CDP:
        return cdp_mask(name);
      case NVDLA_UNIT_RBK:
        return rubik_mask(name);
      default:
        return ~0u;
    }
  }

 private:
  static bool starts(const std::string& name, const char* prefix) {
    return name.rfind(prefix, 0) == 0;
  }
  bool real() const { return layer_.sdp.proc_precision == NVDLA_PRECISION_FP16; }

  std::uint32_t pdp_mask(model::Unit unit, const std::string& name) const {
    const nvdla_pdp& pdp = layer_.pdp;
    const bool average = pdp.method == NVDLA_POOL_AVERAGE;
    const bool padded = (pdp.pad_left | pdp.pad_right | pdp.pad_top | pdp.pad_bottom) != 0;
    const bool flying = layer_.kind != NVDLA_LAYER_PDP;
    const bool real = (flying ? layer_.sdp.out_precision : pdp.precision) == NVDLA_PRECISION_FP16;
    if (starts(name, "D_PARTIAL_WIDTH_"))
      return pdp.bands > 2 ? ~0u : pdp.bands > 1 ? 0x000fffffu : 0;
    // The read DMA finds where a band begins without it.
    if (unit == NVDLA_UNIT_PDP_RDMA && name == "D_POOLING_PADDING_CFG") return 0;
    // Padding that no window reaches is not programmed.
    if (name == "D_POOLING_PADDING_CFG") {
      const Unreached unreached = unreached_padding(layer_);
      return ~((unreached.columns ? NVDLA_PDP_D_POOLING_PADDING_CFG_PAD_RIGHT_MASK : 0) |
               (unreached.lines ? NVDLA_PDP_D_POOLING_PADDING_CFG_PAD_BOTTOM_MASK : 0));
    }
    if (starts(name, "D_RECIP_")) return average ? ~0u : 0;
    if (starts(name, "D_POOLING_PADDING_VALUE_"))
      return !average || !padded ? 0 : real ? 0x1ffff : ~0u;
    // What is handed on is not looked at.
    if (name == "D_NAN_FLUSH_TO_ZERO") return real && !flying ? ~0u : 0;
    // Where the input is is told to the read DMA.
    if (unit == NVDLA_UNIT_PDP && starts(name, "D_SRC_")) return 0;
    return ~0u;
  }

  std::uint32_t cdp_mask(const std::string& name) const {
    const nvdla_cdp& cdp = layer_.cdp;
    const bool real = cdp.precision == NVDLA_PRECISION_FP16;
    const bool narrow = cdp.precision == NVDLA_PRECISION_INT8;
    if (name == "D_DATIN_OFFSET") return real ? 0 : narrow ? 0xff : ~0u;
    if (name == "D_DATOUT_OFFSET") return real ? 0 : narrow ? 0x1ffffff : ~0u;
    if (starts(name, "D_DATIN_") || starts(name, "D_DATOUT_")) return real ? 0 : ~0u;
    if (name == "D_LRN_CFG") return cdp.window != 0 ? ~0u : 0;
    if (name == "D_NAN_FLUSH_TO_ZERO") return real ? ~0u : 0;
    return ~0u;
  }

  std::uint32_t rubik_mask(const std::string& name) const {
    const std::uint32_t mode = layer_.rubik.mode;
    if (starts(name, "D_CONTRACT_") || name == "D_DECONV_STRIDE")
      return mode == NVDLA_RUBIK_CONTRACT ? ~0u : 0;
    if (name == "D_DAIN_PLANAR_STRIDE") return mode == NVDLA_RUBIK_MERGE ? ~0u : 0;
    if (name == "D_DAIN_SURF_STRIDE") return mode != NVDLA_RUBIK_MERGE ? ~0u : 0;
    if (name == "D_DAOUT_PLANAR_STRIDE") return mode == NVDLA_RUBIK_SPLIT ? ~0u : 0;
    if (name == "D_DAOUT_SURF_STRIDE") return mode != NVDLA_RUBIK_SPLIT ? ~0u : 0;
    return ~0u;
  }

  std::uint32_t pad_mask() const {
    return layer_.conv.proc_precision == NVDLA_PRECISION_INT8 ? 0xff : 0xffff;
  }

  std::uint32_t cdma_mask(const std::string& name) const {
    const nvdla_conv& conv = layer_.conv;
    const bool image = conv.mode == NVDLA_CONV_IMAGE;
    const bool convert = (conv.flags & NVDLA_CONV_CONVERT) != 0;
    const bool mean = (conv.flags & NVDLA_CONV_MEAN) != 0;
    if (name == "D_CVT_OFFSET") return convert && !mean ? ~0u : 0;
    if (name == "D_CVT_SCALE") return convert ? ~0u : 0;
    // fp16 passes the converter unchanged, on or off.
    if (name == "D_CVT_CFG")
      return convert ? ~0u : conv.in_precision == NVDLA_PRECISION_FP16 ? 0 : 1;
    if (name == "D_MEAN_FORMAT") return image && convert ? ~0u : 0;
    if (name == "D_MEAN_GLOBAL_0") return !mean ? 0 : conv.channels > 1 ? ~0u : 0xffff;
    if (name == "D_MEAN_GLOBAL_1")
      return !mean || conv.channels < 3 ? 0 : conv.channels > 3 ? ~0u : 0xffff;
    if (name == "D_DATAIN_FORMAT")
      return !image ? 1 : ~(convert ? 0 : NVDLA_CDMA_D_DATAIN_FORMAT_PIXEL_SIGN_OVERRIDE_MASK);
    if (name == "D_PIXEL_OFFSET") return image ? NVDLA_CDMA_D_PIXEL_OFFSET_PIXEL_X_OFFSET_MASK : 0;
    if (name == "D_DAIN_ADDR_HIGH_1" || name == "D_DAIN_ADDR_LOW_1" || name == "D_LINE_UV_STRIDE")
      return image && conv.pixel_format >= NVDLA_PIXEL_Y8_U8V8_N444 ? ~0u : 0;
    if (name == "D_SURF_STRIDE" || name == "D_FETCH_GRAIN") return image ? 0 : ~0u;
    if (name == "D_NAN_FLUSH_TO_ZERO")
      return layer_.conv.proc_precision == NVDLA_PRECISION_FP16 ? ~0u : 0;
    if (name == "D_ZERO_PADDING_VALUE")  // the sequencer pads features
      return pad_mask();
    return ~0u;
  }

  // Of where the results go only the half of 64 bytes matters, with several batches.
  std::uint32_t cacc_mask(const std::string& name) const {
    constexpr std::uint32_t kHalf = 1u << 5;
    if (name == "D_DATAOUT_ADDR" || name == "D_LINE_STRIDE" || name == "D_SURF_STRIDE")
      return layer_.conv.batch > 1 ? kHalf : 0;
    if (name == "D_DATAOUT_MAP")  // of a single position only
      return layer_.sdp.output.line_stride == layer_.sdp.output.surface_stride ? ~0u : 0;
    if (name == "D_CLIP_CFG") return layer_.conv.proc_precision == NVDLA_PRECISION_FP16 ? 0 : ~0u;
    return ~0u;
  }

  std::uint32_t x_mask(const nvdla_sdp_x& x, const std::string& name) const {
    const bool on = (x.flags & NVDLA_SDP_ENABLE) != 0;
    const bool alu = x.alu != NVDLA_ALU_NONE;
    const bool mul = x.mul != NVDLA_MUL_NONE;
    const bool values = on && x.mode == NVDLA_OPERAND_LAYER;
    const std::uint32_t shifts = real() ? 0 : 0xff00;
    if (name == "CFG") return !on ? 1u : 0x53u | (alu ? 0x0cu : 0) | (mul ? 0x20u : 0);
    if (name == "ALU_CFG") return on && alu ? 1u | shifts : 0;
    if (name == "MUL_CFG") return on ? (mul ? 1u : 0) | shifts : 0;
    if (name == "ALU_SRC_VALUE") return values && alu ? ~0u : 0;
    if (name == "MUL_SRC_VALUE") return values && mul ? ~0u : 0;
    throw std::logic_error("unknown register of an operator: " + name);
  }

  std::uint32_t y_mask(const std::string& name) const {
    const nvdla_sdp_y& y = layer_.sdp.y;
    const bool on = (y.flags & NVDLA_SDP_ENABLE) != 0;
    const bool alu = y.alu != NVDLA_ALU_NONE;
    const bool mul = y.mul != NVDLA_MUL_NONE;
    const bool values = y.mode == NVDLA_OPERAND_LAYER;
    if (name == "CFG") return !on ? 1u : 0x53u | (alu ? 0x0cu : 0) | (mul ? 0x20u : 0);
    // Values from registers pass no converter, fp16 is widened by any.
    const std::uint32_t config = values || real() ? 1u : 3u;
    if (name == "ALU_CFG") return alu ? config : 0;
    if (name == "MUL_CFG") return mul ? config : 0;
    if (name == "ALU_SRC_VALUE") return alu && values ? ~0u : 0;
    if (name == "MUL_SRC_VALUE") return mul && values ? ~0u : 0;
    if (starts(name, "ALU_CVT_")) return y.flags & NVDLA_SDP_CONVERT_ALU ? ~0u : 0;
    if (starts(name, "MUL_CVT_")) return y.flags & NVDLA_SDP_CONVERT_MUL ? ~0u : 0;
    if (name == "TRUNCATE_VALUE") return mul && !real() ? ~0u : 0;
    throw std::logic_error("unknown register of Y: " + name);
  }

  std::uint32_t sdp_mask(const std::string& name) const {
    if (starts(name, "D_DP_BS_")) return x_mask(layer_.sdp.x1, name.substr(8));
    if (starts(name, "D_DP_BN_")) return x_mask(layer_.sdp.x2, name.substr(8));
    if (starts(name, "D_DP_EW_")) return y_mask(name.substr(8));
    if (starts(name, "D_CVT_")) return real() ? 0 : ~0u;
    if (starts(name, "D_DST_") && (layer_.pdp.bands != 0 || layer_.sdp.y.alu == NVDLA_ALU_EQUAL))
      return 0;
    if (name == "D_FEATURE_MODE_CFG")
      return real() ? ~0u : ~NVDLA_SDP_D_FEATURE_MODE_CFG_NAN_TO_ZERO_MASK;
    return ~0u;
  }

  std::uint32_t x_rdma_mask(const nvdla_sdp_x& x, bool config, bool stride) const {
    const bool reads = (x.flags & NVDLA_SDP_ENABLE) != 0 && x.mode != NVDLA_OPERAND_LAYER;
    if (config) return reads ? ~0u : 1u;
    if (stride) return reads && x.mode == NVDLA_OPERAND_ELEMENT ? ~0u : 0;
    return reads ? ~0u : 0;
  }

  std::uint32_t rdma_mask(const std::string& name) const {
    const bool stride = name.find("STRIDE") != std::string::npos;
    if (starts(name, "D_BRDMA_") || starts(name, "D_BS_"))
      return x_rdma_mask(layer_.sdp.x1, starts(name, "D_BRDMA_"), stride);
    if (starts(name, "D_NRDMA_") || starts(name, "D_BN_"))
      return x_rdma_mask(layer_.sdp.x2, starts(name, "D_NRDMA_"), stride);
    if (name == "D_ERDMA_CFG" || starts(name, "D_EW_")) {
      nvdla_sdp_x y{};
      y.flags = layer_.sdp.y.alu != 0 || layer_.sdp.y.mul != 0 ? layer_.sdp.y.flags : 0;
      y.mode = layer_.sdp.y.mode;
      return x_rdma_mask(y, name == "D_ERDMA_CFG", stride);
    }
    if (starts(name, "D_SRC_")) return layer_.kind == NVDLA_LAYER_SDP ? ~0u : 0;
    return ~0u;
  }

  const nvdla_layer& layer_;
};

using Moved = std::map<std::uint64_t, std::uint64_t>;

// An address word of the launch, as it is where the tables were copied to.
std::uint32_t moved_word(const LaunchRegisters& launch, const std::string& name,
                         std::uint32_t value, const Moved& moved) {
  if (name.rfind("D_WGS_ADDR_", 0) != 0 && name.rfind("D_WMB_ADDR_", 0) != 0) return value;
  const bool wgs = name[3] == 'G';
  const std::uint64_t high =
      launch.read(NVDLA_UNIT_CDMA, wgs ? NVDLA_CDMA_D_WGS_ADDR_HIGH : NVDLA_CDMA_D_WMB_ADDR_HIGH);
  const std::uint64_t low =
      launch.read(NVDLA_UNIT_CDMA, wgs ? NVDLA_CDMA_D_WGS_ADDR_LOW : NVDLA_CDMA_D_WMB_ADDR_LOW);
  const auto found = moved.find(high << 32 | low);
  if (found == moved.end()) return value;
  return static_cast<std::uint32_t>(name.ends_with("HIGH") ? found->second >> 32 : found->second);
}

// A value of the launch as it has to be in the image that has `compiled` there.
std::uint32_t meant(const nvdla_hw& hw, const nvdla_layer& layer, std::uint32_t unit,
                    const std::string& name, std::uint32_t value, std::uint32_t compiled) {
  if (name == "D_WEIGHT_BYTES" && (layer.conv.flags & NVDLA_CONV_COMPRESSED) == 0 &&
      compiled % hw.weight_align == 0 && value == round_up_weights(compiled))
    return compiled;
  if ((hw.features & NVDLA_HW_WEIGHT_GATING) == 0) return value;
  const bool buffer = unit == NVDLA_UNIT_CDMA || unit == NVDLA_UNIT_CSC;
  // Both units have the fields in the same places.
  if (buffer && name == "D_MISC_CFG") return value | NVDLA_CDMA_D_MISC_CFG_SKIP_WEIGHT_RLS_MASK;
  constexpr std::uint32_t kBanks = NVDLA_CDMA_D_BANK_WEIGHT_BANK_MASK;
  if (buffer && name == "D_BANK" && (compiled & kBanks) > (value & kBanks))
    return (value & ~kBanks) | (compiled & kBanks);
  return value;
}

}  // namespace

std::vector<std::string> differing_registers(const nvdla_hw& hw, const LaunchRegisters& launch,
                                             const nvdla_layer& layer,
                                             const std::map<std::uint32_t, std::uint32_t>& image,
                                             std::uint32_t units, const Moved& moved) {
  std::vector<std::string> differences;
  const model::RegisterMap map = launch.map();
  for (const auto& info : model::units()) {
    const bool wanted =
        info.unit == NVDLA_UNIT_BDMA ? !launch.commands().empty() : launch.enabled(info.unit);
    if (wanted != ((units >> info.unit & 1) != 0))
      differences.push_back(std::string(info.name) + (wanted ? " is not enabled" : " is enabled"));
  }

  const Used used(layer);
  for (const auto& [byte_address, written] : launch.values()) {
    const auto* info = model::register_at(map, byte_address);
    if (info->scope != model::Scope::kGroup || info->name == "D_OP_ENABLE" ||
        info->write[map] == 0 || !launch.enabled(info->unit))
      continue;
    const auto found = image.find(byte_address);
    if (found == image.end()) {
      differences.push_back(model::register_name(map, byte_address) + " is not written");
      continue;
    }
    const std::string name(info->name);
    const std::uint32_t value =
        meant(hw, layer, info->unit, name, moved_word(launch, name, written, moved), found->second);
    const std::uint32_t mask = info->write[map] & used.mask(info->unit, name);
    if (((found->second ^ value) & mask) != 0)
      differences.push_back(model::decode(map, byte_address, found->second) + " instead of " +
                            model::decode(map, byte_address, value));
  }
  return differences;
}

}  // namespace nvdla::test
