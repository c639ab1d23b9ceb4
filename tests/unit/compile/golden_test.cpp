// SPDX-License-Identifier: MIT
//
// Golden cases decide what the compiler writes: each is lifted to a
// descriptor, compiled, and every register that the layer uses must have the
// value of the case. Slots are exactly the memory of the case, so the claims
// of memory are held against it, too.
//
// Some cases are beyond what the compiler accepts: the reference model, which
// they were made with, finishes layers that are not proven to end on hardware.
// Those are listed by name with the rule, and the rule must be the one that
// the registers of the case call for.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "support/cases.hpp"
#include "support/compiled.hpp"
#include "support/lift.hpp"

namespace nvdla::test {
namespace {

// Bits of a register that have an effect in this layer. Traces hold random
// numbers in all others, so they show a bit that is wrongly in this list.
class Used {
 public:
  explicit Used(const nvdla_layer& layer) : layer_(layer) {}

  std::uint32_t mask(model::Unit unit, const std::string& name) const {
    // A choice of the program; spare bits; one batch; uncompressed weights.
    static const std::set<std::string> never = {"D_PERF_ENABLE",     "D_CYA",
                                                "D_BATCH_STRIDE",    "D_DST_BATCH_STRIDE",
                                                "D_BS_BATCH_STRIDE", "D_BN_BATCH_STRIDE",
                                                "D_WGS_ADDR_HIGH",   "D_WGS_ADDR_LOW",
                                                "D_WMB_ADDR_HIGH",   "D_WMB_ADDR_LOW",
                                                "D_WMB_BYTES",       "D_RESERVED_X_CFG",
                                                "D_RESERVED_Y_CFG",  "D_PRA_CFG",
                                                "D_EW_BATCH_STRIDE"};
    if (never.contains(name)) return 0;
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
    const bool real = (layer_.kind == NVDLA_LAYER_PDP ? pdp.precision : layer_.sdp.out_precision) ==
                      NVDLA_PRECISION_FP16;
    if (starts(name, "D_PARTIAL_WIDTH_"))
      return pdp.bands > 2 ? ~0u : pdp.bands > 1 ? 0x000fffffu : 0;
    // The read DMA needs it to find where a band begins.
    if (unit == NVDLA_UNIT_PDP_RDMA && name == "D_POOLING_PADDING_CFG")
      return pdp.bands > 1 ? ~0u : 0;
    if (starts(name, "D_RECIP_")) return average ? ~0u : 0;
    if (starts(name, "D_POOLING_PADDING_VALUE_"))
      return !average || !padded ? 0 : real ? 0x1ffff : ~0u;
    if (name == "D_NAN_FLUSH_TO_ZERO") return real ? ~0u : 0;
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
    if (name == "D_CVT_CFG") return convert ? ~0u : 1;
    if (name == "D_MEAN_FORMAT") return image && convert ? ~0u : 0;
    if (name == "D_MEAN_GLOBAL_0") return !mean ? 0 : conv.channels > 1 ? ~0u : 0xffff;
    if (name == "D_MEAN_GLOBAL_1")
      return !mean || conv.channels < 3 ? 0 : conv.channels > 3 ? ~0u : 0xffff;
    if (name == "D_DATAIN_FORMAT")
      return !image ? 1 : ~(convert ? 0 : NVDLA_CDMA_D_DATAIN_FORMAT_PIXEL_SIGN_OVERRIDE_MASK);
    if (name == "D_PIXEL_OFFSET") return image ? NVDLA_CDMA_D_PIXEL_OFFSET_PIXEL_X_OFFSET_MASK : 0;
    if (name == "D_DAIN_ADDR_HIGH_1" || name == "D_DAIN_ADDR_LOW_1" || name == "D_LINE_UV_STRIDE")
      return image && conv.pixel_format >= NVDLA_PIXEL_Y8_U8V8 ? ~0u : 0;
    if (name == "D_SURF_STRIDE" || name == "D_FETCH_GRAIN") return image ? 0 : ~0u;
    if (name == "D_NAN_FLUSH_TO_ZERO")
      return layer_.conv.proc_precision == NVDLA_PRECISION_FP16 ? ~0u : 0;
    if (name == "D_ZERO_PADDING_VALUE")  // the sequencer pads features
      return pad_mask();
    return ~0u;
  }

  // Where the results go matters with several batches only.
  std::uint32_t cacc_mask(const std::string& name) const {
    if (name == "D_DATAOUT_ADDR" || name == "D_LINE_STRIDE" || name == "D_SURF_STRIDE") return 0;
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
    ADD_FAILURE() << "unknown register of an operator: " << name;
    return ~0u;
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
    ADD_FAILURE() << "unknown register of Y: " << name;
    return ~0u;
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

// Output width and height of the layer before its pooling, or of what it reads.
std::pair<std::uint32_t, std::uint32_t> pooled_size(const nvdla_layer& layer) {
  const nvdla_conv& conv = layer.conv;
  if (layer.kind == NVDLA_LAYER_PDP) return {layer.pdp.width, layer.pdp.height};
  if (layer.kind == NVDLA_LAYER_SDP_PDP) return {layer.sdp.width, layer.sdp.height};
  const std::uint32_t kernel_w = (conv.kernel_width - 1) * conv.dilation_x + 1;
  const std::uint32_t kernel_h = (conv.kernel_height - 1) * conv.dilation_y + 1;
  return {(conv.pad_left + conv.width + conv.pad_right - kernel_w) / conv.stride_x + 1,
          (conv.pad_top + conv.height + conv.pad_bottom - kernel_h) / conv.stride_y + 1};
}

// Input and output of an int8 layer that lie in one memory, one between the
// surfaces of the other: the compiler compares from the first to the last byte.
bool interleaves(const nvdla_hw& hw, const nvdla_layer& layer) {
  const nvdla_sdp& sdp = layer.sdp;
  if (layer.kind != NVDLA_LAYER_SDP || sdp.y.alu == NVDLA_ALU_EQUAL ||
      sdp.in_precision != NVDLA_PRECISION_INT8 || sdp.out_precision != NVDLA_PRECISION_INT8 ||
      sdp.input.slot != sdp.output.slot)
    return false;
  const auto end = [&](const nvdla_surface& s) {
    return s.offset + std::uint64_t{(sdp.channels - 1) / hw.atom} * s.surface_stride +
           std::uint64_t{sdp.height - 1} * s.line_stride + sdp.width * hw.atom;
  };
  return sdp.input.offset != sdp.output.offset && sdp.input.offset < end(sdp.output) &&
         sdp.output.offset < end(sdp.input);
}

// Rules that the layer breaks, worked out again from the facts.
std::set<std::uint32_t> broken_rules(const nvdla_hw& hw, const nvdla_layer& layer) {
  std::set<std::uint32_t> rules;
  if (interleaves(hw, layer)) rules.insert(NVDLA_RULE_OVERLAP);
  if (const nvdla_pdp& pdp = layer.pdp; pdp.kernel_width != 0) {
    const auto [width, height] = pooled_size(layer);
    if ((pdp.pad_left + width + pdp.pad_right - pdp.kernel_width) % pdp.stride_x != 0 ||
        (pdp.pad_top + height + pdp.pad_bottom - pdp.kernel_height) % pdp.stride_y != 0)
      rules.insert(NVDLA_RULE_EXACT_DIVISION);
  }
  const nvdla_conv& conv = layer.conv;
  if (layer.kind == NVDLA_LAYER_CONV_SDP) {
    const std::uint32_t kernel_w = (conv.kernel_width - 1) * conv.dilation_x + 1;
    const std::uint32_t kernel_h = (conv.kernel_height - 1) * conv.dilation_y + 1;
    if (conv.pad_left >= kernel_w || conv.pad_right >= kernel_w || conv.pad_top >= kernel_h ||
        conv.pad_bottom >= kernel_h)
      rules.insert(NVDLA_RULE_PADDING);
    if ((conv.pad_left + conv.width + conv.pad_right - kernel_w) % conv.stride_x != 0 ||
        (conv.pad_top + conv.height + conv.pad_bottom - kernel_h) % conv.stride_y != 0)
      rules.insert(NVDLA_RULE_EXACT_DIVISION);
    if (conv.batch > 1 || (conv.flags & NVDLA_CONV_COMPRESSED) != 0)
      rules.insert(NVDLA_RULE_FEATURE);
    // The reference model passes fp16 through a converter that is on.
    if (conv.in_precision == NVDLA_PRECISION_FP16 && (conv.flags & NVDLA_CONV_CONVERT) != 0)
      rules.insert(NVDLA_RULE_FLAGS);
  }
  for (const nvdla_sdp_x* x : {&layer.sdp.x1, &layer.sdp.x2}) {
    if (x->mul == NVDLA_MUL_PRELU && x->alu != NVDLA_ALU_NONE) rules.insert(NVDLA_RULE_PRELU_ALU);
    if (x->alu_shift > 30) rules.insert(NVDLA_RULE_RANGE);
  }
  if (layer.sdp.y.mul_truncate > 62) rules.insert(NVDLA_RULE_RANGE);
  if (layer.sdp.y.mul == NVDLA_MUL_PRELU && layer.sdp.y.alu != NVDLA_ALU_NONE)
    rules.insert(NVDLA_RULE_PRELU_ALU);
  return rules;
}

// Pairs of surfaces where int16 meets int8: the cases have memory for the
// surfaces with channels only.
bool has_surface_pairs(const nvdla_sdp& sdp) {
  return sdp.proc_precision == NVDLA_PRECISION_INT8 &&
         (sdp.in_precision == NVDLA_PRECISION_INT16 || sdp.out_precision == NVDLA_PRECISION_INT16);
}

class Golden : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void run(const Case& c) {
    const nvdla_hw* hw = nvdla_hw_find(c.configuration.c_str());
    ASSERT_NE(hw, nullptr);
    const auto map = static_cast<model::RegisterMap>(hw->regmap);
    LaunchRegisters registers(map);
    std::map<std::uint32_t, std::uint32_t> last;
    for (const auto& write : c.writes) {
      registers.write(write.offset, write.value);
      last[write.offset] = write.value;
    }
    std::vector<LaunchMemory> memories;
    for (const auto& region : c.regions) memories.push_back({region.address, region.size});

    Lifted lifted = lift(*hw, registers, memories);
    auto program =
        std::make_unique<Program>(*hw, lifted.slots, 1, 0, 0, lifted.luts, lifted.transfers);
    program->add(lifted.layer);
    if (program->error().rule == NVDLA_RULE_EXTENT && has_surface_pairs(lifted.layer.sdp)) {
      listed_ << "  " << c.name << ": NVDLA_RULE_EXTENT in the memory of the case\n";
      for (auto& slot : lifted.slots) slot.size *= 2;
      program =
          std::make_unique<Program>(*hw, lifted.slots, 1, 0, 0, lifted.luts, lifted.transfers);
      program->add(lifted.layer);
    }
    const auto broken = broken_rules(*hw, lifted.layer);
    if (!program->ok()) {
      listed_ << "  " << c.name << ": " << to_string(program->error()) << "\n";
      refused_++;
      EXPECT_TRUE(broken.contains(program->error().rule)) << to_string(program->error());
      return;
    }
    EXPECT_TRUE(broken.empty()) << "compiled, although rule " << *broken.begin() << " is broken";
    EXPECT_TRUE(program->end());
    compare(map, last, registers, lifted, *program);
    compiled_++;
  }

  static void compare(model::RegisterMap map, const std::map<std::uint32_t, std::uint32_t>& writes,
                      const LaunchRegisters& registers, const Lifted& lifted,
                      const Program& program) {
    const auto image = program.registers(0, lifted.bases);
    const std::uint32_t units = program.image(0).units;
    for (const auto& info : model::units())
      EXPECT_EQ(info.unit == NVDLA_UNIT_BDMA ? !registers.commands().empty()
                                             : registers.enabled(info.unit),
                (units >> info.unit & 1) != 0)
          << info.name;

    const Used used(lifted.layer);
    for (const auto& [offset, value] : writes) {
      const auto* info = model::register_at(map, offset);
      ASSERT_NE(info, nullptr) << std::hex << offset;
      if (info->scope != model::Scope::kGroup || info->name == "D_OP_ENABLE" ||
          info->write[map] == 0 || !registers.enabled(info->unit))
        continue;
      const auto found = image.find(offset);
      if (found == image.end()) {
        ADD_FAILURE() << model::register_name(map, offset) << " is not written";
        continue;
      }
      const std::uint32_t mask = info->write[map] & used.mask(info->unit, std::string(info->name));
      EXPECT_EQ(found->second & mask, value & mask)
          << model::decode(map, offset, found->second) << "\ninstead of "
          << model::decode(map, offset, value);
    }
  }

  std::ostringstream listed_;
  unsigned compiled_ = 0;
  unsigned refused_ = 0;
};

TEST_P(Golden, RegistersAreThoseOfTheCase) {
  const auto [configuration, unit] = GetParam();
  if (!shared_directory())
    GTEST_SKIP() << "golden cases are not here: set NVDLA_SHARED to where they are";
  const auto cases = find_cases(configuration, unit);
  ASSERT_FALSE(cases.empty()) << "no cases in " << configuration << "/" << unit;
  for (const auto& path : cases) {
    SCOPED_TRACE(path.string());
    ASSERT_NO_THROW(run(load_case(path)));
  }
  RecordProperty("compiled", static_cast<int>(compiled_));
  RecordProperty("refused", static_cast<int>(refused_));
  std::cout << configuration << "/" << unit << ": " << compiled_ << " compiled, " << refused_
            << " refused\n"
            << listed_.str();
  EXPECT_GT(compiled_, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Golden,
    testing::Values(std::pair{"nv_small", "conv_dc"}, std::pair{"nv_small", "conv_sdp"},
                    std::pair{"nv_small", "sdp"}, std::pair{"nv_small", "pdp"},
                    std::pair{"nv_small", "cdp"}, std::pair{"nv_full", "pdp"},
                    std::pair{"nv_full", "cdp"}, std::pair{"nv_full", "rubik"},
                    std::pair{"nv_full", "bdma"}, std::pair{"nv_full", "sdp_pdp"},
                    std::pair{"nv_full", "conv_img"}, std::pair{"nv_full", "conv_dc"},
                    std::pair{"nv_full", "conv_sdp"}, std::pair{"nv_full", "sdp"}),
    [](const auto& tested) { return std::string(tested.param.first) + "_" + tested.param.second; });

// The published traces of the second generation, which ran on its logic.
class Traces : public Golden {};

TEST_P(Traces, RegistersAreThoseOfTheTrace) {
  const auto [configuration, prefix] = GetParam();
  if (!shared_directory())
    GTEST_SKIP() << "traces are not here: set NVDLA_SHARED to where they are";
  const auto traces = find_traces(configuration, prefix);
  ASSERT_FALSE(traces.empty()) << "no traces in " << configuration;
  for (const auto& path : traces) {
    SCOPED_TRACE(path.string());
    ASSERT_NO_THROW(run(load_trace(path)));
  }
  std::cout << configuration << ": " << compiled_ << " compiled, " << refused_ << " refused\n"
            << listed_.str();
}

INSTANTIATE_TEST_SUITE_P(
    Published, Traces,
    testing::Values(std::pair{"nv_large", "pdp_"}, std::pair{"nv_large", "cdp_"},
                    std::pair{"nv_medium_1024_full", "pdp_"},
                    std::pair{"nv_medium_1024_full", "cdp_"}, std::pair{"nv_medium_512", "pdp_"},
                    std::pair{"nv_medium_512", "cdp_"}, std::pair{"nv_small_256_full", "pdp_"},
                    std::pair{"nv_small_256_full", "cdp_"}, std::pair{"nv_small_256", "pdp_"},
                    std::pair{"nv_small_256", "cdp_"}, std::pair{"nv_small", "pdp_"},
                    std::pair{"nv_small", "cdp_"}, std::pair{"nv_large", "dc_"},
                    std::pair{"nv_large", "sdp_"}, std::pair{"nv_medium_1024_full", "dc_"},
                    std::pair{"nv_medium_1024_full", "sdp_"}, std::pair{"nv_medium_512", "dc_"},
                    std::pair{"nv_small_256_full", "dc_"}, std::pair{"nv_small_256_full", "sdp_"},
                    std::pair{"nv_small_256", "dc_"}, std::pair{"nv_small", "dc_"},
                    std::pair{"nv_small", "sdp_"}),
    [](const auto& tested) { return std::string(tested.param.first) + "_" + tested.param.second; });

}  // namespace
}  // namespace nvdla::test
