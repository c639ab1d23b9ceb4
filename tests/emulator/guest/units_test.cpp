// SPDX-License-Identifier: MIT
//
// A layer of every unit through the kernel and on the device model in this process: the same bytes,
// the same counters by name, and the same refusal of units that the configuration does not have.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "unit_run.hpp"

namespace nvdla::emulator_test {
namespace {

struct Unit {
  const char* name;
  test::Base (*make)(const char* configuration);
  // One that its layers always have.
  nvdla_counter counter;
};

const Unit kUnits[] = {
    {"Convolution", test::base_conv, NVDLA_COUNTER_CACC_SATURATION},
    {"ConvolutionOfAnImage", test::base_image, NVDLA_COUNTER_CDMA_DATA_STALL},
    {"ConvolutionAndPooling", test::base_conv_pdp, NVDLA_COUNTER_PDP_WRITE_STALL},
    {"Sdp", test::base_sdp, NVDLA_COUNTER_SDP_SATURATION},
    {"SdpWithTables", test::base_y, NVDLA_COUNTER_SDP_LUT_LE_HIT},
    {"SdpThatCompares", test::base_equal, NVDLA_COUNTER_SDP_UNEQUAL},
    {"SdpAndPooling", test::base_sdp_pdp, NVDLA_COUNTER_PDP_WRITE_STALL},
    {"Pdp", test::base_pdp, NVDLA_COUNTER_PDP_WRITE_STALL},
    {"Cdp", test::base_cdp, NVDLA_COUNTER_CDP_LUT_LE_HIT},
    {"RubikContracts", test::base_contract, NVDLA_COUNTER_RUBIK_WRITE_STALL},
    {"RubikSplits", test::base_split, NVDLA_COUNTER_RUBIK_READ_STALL},
    {"Bdma", test::base_bdma, NVDLA_COUNTER_BDMA_WRITE_STALL},
};

class Units : public testing::TestWithParam<Unit> {};

// The rule by which a device refuses the layer, or nothing.
std::optional<std::uint32_t> refusal(const Device& device, const test::Base& base) {
  try {
    device.create_program(desc_of(base));
    return std::nullopt;
  } catch (const Error& error) {
    return error.rule();
  }
}

TEST_P(Units, ComputeAndCountAsTheModel) {
  const Device kernel = Device::open("auto");
  ASSERT_EQ(kernel.info().backend, "kernel");
  const std::string configuration(kernel.info().configuration);
  const Device model = Device::open("model:" + configuration);
  const test::Base base = GetParam().make(configuration.c_str());
  if (const auto rule = refusal(model, base)) {
    EXPECT_EQ(*rule, std::uint32_t{NVDLA_RULE_FEATURE}) << rule_name(*rule);
    EXPECT_EQ(refusal(kernel, base), rule);
    return;
  }
  const Outcome ours = run(kernel, base);
  const Outcome theirs = run(model, base);
  EXPECT_EQ(ours.slots, theirs.slots);
  ASSERT_EQ(ours.statistics.size(), 1u);
  ASSERT_EQ(theirs.statistics.size(), 1u);
  const nvdla_layer_stats& counted = ours.statistics[0];
  EXPECT_EQ(counted.valid, theirs.statistics[0].valid);
  EXPECT_NE(counted.valid >> GetParam().counter & 1, 0u) << counter_name(GetParam().counter);
  EXPECT_EQ(counted.valid >> NVDLA_COUNTER_COUNT, 0u);
  for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i) {
    EXPECT_EQ(counted.counter[i], theirs.statistics[0].counter[i]) << counter_name(i);
    EXPECT_FALSE(counter_name(i).empty()) << i;
  }
  EXPECT_GT(counted.end_ns, counted.start_ns);
}

INSTANTIATE_TEST_SUITE_P(Kernel, Units, testing::ValuesIn(kUnits),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace nvdla::emulator_test
