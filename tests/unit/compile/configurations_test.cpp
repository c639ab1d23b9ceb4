// SPDX-License-Identifier: MIT
//
// What differs from configuration to configuration: features that are not built, atoms, the
// convolution buffer, addresses.
#include <gtest/gtest.h>

#include <cstring>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

// As the facts about configurations have it.
struct Configuration {
  const char* name;
  bool first_generation;  // 16 bits, Winograd, batches, compression, BDMA, Rubik
  bool full;              // secondary memory, SDP's Y and its table
  std::uint32_t atom, atomic_c, group;
  std::uint32_t banks, entries, entry_bytes;
  std::uint32_t weight_multiple;
  std::uint32_t address_bits;
};

constexpr Configuration kAll[] = {
    {"nv_full", true, true, 32, 64, 32, 16, 256, 128, 128, 64},
    {"nv_large", false, true, 32, 64, 32, 16, 512, 64, 64, 64},
    {"nv_medium_1024_full", false, true, 32, 32, 32, 32, 512, 32, 32, 64},
    {"nv_medium_512", false, false, 16, 32, 16, 32, 512, 32, 32, 64},
    {"nv_small_256_full", false, true, 8, 32, 8, 32, 128, 32, 32, 32},
    {"nv_small_256", false, false, 8, 32, 8, 32, 128, 32, 32, 32},
    {"nv_small", false, false, 8, 8, 8, 32, 512, 8, 8, 32},
};

class LimitsOf : public testing::TestWithParam<Configuration> {
 protected:
  const Configuration& is_ = GetParam();

  nvdla_error changed(Base (*make)(const char*), const Mutation& change) const {
    Base base = make(is_.name);
    EXPECT_EQ(compile(base).rule, NVDLA_RULE_NONE) << to_string(compile(base));
    change(base);
    return compile(base);
  }
  static void expect_feature(const nvdla_error& error, std::uint32_t field, std::int64_t feature) {
    EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << to_string(error);
    EXPECT_EQ(error.field, field);
    EXPECT_EQ(error.value, feature);
  }
  static void expect_refused(const nvdla_error& error, std::uint32_t rule, std::uint32_t field,
                             std::int64_t value, std::int64_t min, std::int64_t max,
                             std::int64_t multiple = 0) {
    EXPECT_EQ(error.rule, rule) << to_string(error);
    EXPECT_EQ(error.field, field);
    EXPECT_EQ(error.value, value);
    EXPECT_EQ(error.min, min);
    EXPECT_EQ(error.max, max);
    EXPECT_EQ(error.multiple, multiple);
  }
};

TEST_P(LimitsOf, PrecisionsThatAreNotBuilt) {
  if (is_.first_generation) return;
  struct Use {
    Base (*make)(const char*);
    std::uint32_t field;
  };
  const Use uses[] = {
      {base_conv, F(conv.in_precision)}, {base_conv, F(conv.proc_precision)},
      {base_conv, F(sdp.out_precision)}, {base_sdp, F(sdp.in_precision)},
      {base_sdp, F(sdp.proc_precision)}, {base_pdp, F(pdp.precision)},
      {base_cdp, F(cdp.precision)},
  };
  for (const Use& use : uses)
    for (const std::uint32_t precision : {NVDLA_PRECISION_INT16, NVDLA_PRECISION_FP16}) {
      const nvdla_error error = changed(use.make, [&](Base& base) {
        std::memcpy(reinterpret_cast<char*>(&base.layer) + use.field, &precision, 4);
      });
      expect_feature(error, use.field,
                     precision == NVDLA_PRECISION_INT16 ? NVDLA_FEATURE_INT16 : NVDLA_FEATURE_FP16);
    }
}

TEST_P(LimitsOf, FeaturesThatAreNotBuilt) {
  if (!is_.first_generation) {
    expect_feature(changed(base_conv, CHANGE(c.mode = NVDLA_CONV_WINOGRAD)), F(conv.mode),
                   NVDLA_FEATURE_WINOGRAD);
    expect_feature(changed(base_conv, CHANGE(c.batch = 2)), F(conv.batch), NVDLA_FEATURE_BATCH);
    expect_feature(changed(base_conv, CHANGE(c.flags = NVDLA_CONV_COMPRESSED)), F(conv.flags),
                   NVDLA_FEATURE_COMPRESSION);
    expect_feature(changed(base_sdp, CHANGE(l.kind = NVDLA_LAYER_RUBIK)), F(kind),
                   NVDLA_FEATURE_RUBIK);
    expect_feature(changed(base_sdp, CHANGE(l.kind = NVDLA_LAYER_BDMA)), F(kind),
                   NVDLA_FEATURE_BDMA);
    expect_feature(changed(base_image, CHANGE(c.pixel_format = NVDLA_PIXEL_R16)),
                   F(conv.pixel_format), NVDLA_FEATURE_PIXEL_FORMAT);
  }
  const nvdla_error memory = changed(base_conv, CHANGE(slots[1].memory = NVDLA_MEMORY_SRAM));
  const nvdla_error y = changed(base_sdp, CHANGE(s.y.flags = NVDLA_SDP_ENABLE));
  const nvdla_error lut = changed(base_cdp, CHANGE(luts.push_back(table(NVDLA_LUT_SDP))));
  if (is_.full) {
    for (const nvdla_error& error : {memory, y, lut}) EXPECT_EQ(error.rule, NVDLA_RULE_NONE);
    return;
  }
  expect_feature(memory, static_cast<std::uint32_t>(offsetof(nvdla_slot, memory)),
                 NVDLA_FEATURE_SRAM);
  expect_feature(y, F(sdp.y.flags), NVDLA_FEATURE_SDP_Y);
  expect_feature(lut, LUT_FIELD(unit), NVDLA_FEATURE_LUT);
}

TEST_P(LimitsOf, WholeAtoms) {
  const std::uint32_t half = is_.atom / 2;
  struct Use {
    Base (*make)(const char*);
    std::uint32_t field;
  };
  const Use uses[] = {
      {base_conv, F(conv.input)},
      {base_conv, F(conv.input.line_stride)},
      {base_conv, F(conv.input.surface_stride)},
      {base_conv, F(conv.weights)},
      {base_image, F(conv.input)},
      {base_image, F(conv.input.line_stride)},
      {base_planes, F(conv.input_uv)},
      {base_planes, F(conv.input_uv.line_stride)},
      {base_sdp, F(sdp.input)},
      {base_sdp, F(sdp.output)},
      {base_sdp, F(sdp.x1.operand)},
      {base_sdp, F(sdp.x2.operand)},
      {base_sdp, F(sdp.x2.operand.line_stride)},
      {base_sdp, F(sdp.x2.operand.surface_stride)},
      {base_pdp, F(pdp.input)},
      {base_pdp, F(pdp.output)},
      {base_cdp, F(cdp.input)},
      {base_cdp, F(cdp.output)},
  };
  for (const Use& use : uses) {
    SCOPED_TRACE(use.field);
    std::uint32_t value = 0;
    const nvdla_error error = changed(use.make, [&](Base& base) {
      char* field = reinterpret_cast<char*>(&base.layer) + use.field;
      std::memcpy(&value, field, 4);
      value += half;
      std::memcpy(field, &value, 4);
    });
    expect_refused(error, NVDLA_RULE_MULTIPLE, use.field, value, 0, 0, is_.atom);
  }
  expect_refused(changed(base_sdp, [&](Base& base) { base.slots[kX2].alignment = half; }),
                 NVDLA_RULE_SLOT_ALIGNMENT,
                 static_cast<std::uint32_t>(offsetof(nvdla_slot, alignment)), half, is_.atom, 0);
}

TEST_P(LimitsOf, BanksThatThereAre) {
  const std::uint32_t last = is_.banks - 1;
  expect_refused(changed(base_conv, [&](Base& b) { b.layer.conv.data_banks = is_.banks; }),
                 NVDLA_RULE_RANGE, F(conv.data_banks), is_.banks, 1, last);
  expect_refused(changed(base_conv, [&](Base& b) { b.layer.conv.weight_banks = is_.banks; }),
                 NVDLA_RULE_RANGE, F(conv.weight_banks), is_.banks, 1, last);
  const auto sum = [&](std::uint32_t data) {
    return changed(base_conv, [&](Base& base) {
      base.layer.conv.weight_banks = 4;
      base.layer.conv.data_banks = data;
    });
  };
  EXPECT_EQ(sum(is_.banks - 4).rule, NVDLA_RULE_NONE);
  expect_refused(sum(is_.banks - 3), NVDLA_RULE_BANK_SUM, F(conv.weight_banks), is_.banks + 1, 0,
                 is_.banks);
}

// 1 x 1 kernels on lines of one position: an entry each.
Base base_line(const char* configuration) {
  Base base = base_conv(configuration);
  nvdla_conv& conv = base.layer.conv;
  conv.width = conv.height = 1;
  conv.kernel_width = conv.kernel_height = 1;
  conv.stride_width = conv.stride_height = 1;
  conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 0;
  conv.data_banks = conv.weight_banks = 1;
  base.layer.sdp.x1 = base.layer.sdp.x2 = {};
  base.layer.sdp.output.surface_stride = base.hw->atom;
  for (nvdla_slot& slot : base.slots) slot.size = 1 << 22;
  conv.channels = 1;
  return base;
}

TEST_P(LimitsOf, LinesThatABankHolds) {
  const auto lines = [&](std::uint32_t height) {
    return changed(base_line, [&](Base& base) {
      base.layer.conv.channels = is_.entry_bytes;
      base.layer.conv.height = height;
      base.layer.conv.input = cube(kInput, 1, height, is_.atom);
      base.layer.sdp.output = cube(kOutput, 1, height, is_.atom);
    });
  };
  EXPECT_EQ(lines(is_.entries).rule, NVDLA_RULE_NONE) << to_string(lines(is_.entries));
  expect_refused(lines(is_.entries + 1), NVDLA_RULE_DATA_BANKS, F(conv.data_banks), 1, 2,
                 is_.banks - 1);
}

TEST_P(LimitsOf, WeightsThatABankHolds) {
  const std::uint32_t bank = is_.entries * is_.entry_bytes;
  const auto weights = [&](std::uint32_t kernels, std::uint32_t more) {
    return changed(base_line, [&](Base& base) {
      base.layer.conv.channels = bank / is_.group + more;
      base.layer.conv.kernels = kernels;
      base.layer.conv.input = cube(kInput, 1, 1, is_.atom);
    });
  };
  EXPECT_EQ(weights(is_.group, 0).rule, NVDLA_RULE_NONE) << to_string(weights(is_.group, 0));
  expect_refused(weights(is_.group, 1), NVDLA_RULE_WEIGHT_BANKS, F(conv.weight_banks), 1, 2,
                 is_.banks - 1);
  // Another group may begin in the middle of an entry.
  expect_refused(weights(is_.group + 1, 0), NVDLA_RULE_WEIGHT_BANKS, F(conv.weight_banks), 1, 2,
                 is_.banks - 1);
}

// A group fills its banks whether it is kept or not; several need 128 bytes more to be kept.
TEST_P(LimitsOf, WeightsThatStayInABank) {
  const std::uint32_t bank = is_.entries * is_.entry_bytes;
  const auto weights = [&](std::uint32_t groups, std::uint32_t bytes) {
    return changed(base_line, [&](Base& base) {
      base.layer.conv.flags = NVDLA_CONV_KEEP_WEIGHTS;
      base.layer.conv.kernels = groups * is_.group;
      base.layer.conv.channels = bytes / (groups * is_.group);
      base.layer.conv.input = cube(kInput, 1, 1, is_.atom);
    });
  };
  EXPECT_EQ(weights(1, bank).rule, NVDLA_RULE_NONE) << to_string(weights(1, bank));
  EXPECT_EQ(weights(2, bank - 128).rule, NVDLA_RULE_NONE) << to_string(weights(2, bank - 128));
  expect_refused(weights(2, bank), NVDLA_RULE_KEEP_WEIGHTS, F(conv.weight_banks), 1, 2,
                 is_.banks - 1);
}

TEST_P(LimitsOf, WeightBytesAreFetchedAsAWhole) {
  // 20 kernels of 360 bytes.
  const std::int64_t exact = div_up(7200, is_.weight_multiple) * is_.weight_multiple;
  const auto bytes = [&](std::int64_t value) {
    return changed(base_conv, [&](Base& base) {
      base.layer.conv.weights.bytes = static_cast<std::uint32_t>(value);
    });
  };
  EXPECT_EQ(bytes(0).rule, NVDLA_RULE_NONE);
  EXPECT_EQ(bytes(exact).rule, NVDLA_RULE_NONE);
  const std::int64_t whole = is_.weight_multiple;
  for (const std::int64_t wrong : {exact - whole, exact - 1, exact + whole / 2, exact + whole})
    expect_refused(bytes(wrong), NVDLA_RULE_RANGE, F(conv.weights.bytes), wrong, exact, exact);
}

// Lines of a step share the lanes: 12 channels of a line of the kernel.
TEST_P(LimitsOf, LinesOfAStep) {
  const std::uint32_t most = is_.atomic_c >= 48 ? 4 : is_.atomic_c >= 24 ? 2 : 1;
  const auto extended = [&](std::uint32_t lines) {
    return changed(base_image, [&](Base& base) { base.layer.conv.post_extension = lines; });
  };
  EXPECT_EQ(extended(most).rule, NVDLA_RULE_NONE);
  expect_refused(extended(2 * most), NVDLA_RULE_RANGE, F(conv.post_extension), 2 * most, 1, most);
}

TEST_P(LimitsOf, AddressesThatThereAre) {
  const auto size = [&](std::uint64_t bytes) {
    return changed(base_sdp, [&](Base& base) { base.slots[kX2].size = bytes; });
  };
  EXPECT_EQ(size(1ull << 32).rule, NVDLA_RULE_NONE);
  if (is_.address_bits == 64) {
    EXPECT_EQ(size(~0ull).rule, NVDLA_RULE_NONE);
  } else {
    expect_refused(size((1ull << 32) + 1), NVDLA_RULE_ADDRESS,
                   static_cast<std::uint32_t>(offsetof(nvdla_slot, size)), 1ll << 32, 0, 32);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LimitsOf, testing::ValuesIn(kAll),
                         [](const auto& is) { return std::string(is.param.name); });

}  // namespace
}  // namespace nvdla::test
