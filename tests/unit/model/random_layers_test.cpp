// SPDX-License-Identifier: MIT
//
// Random small layers against the reference, every byte of the output cube and around it, and the
// saturation counters.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/configurations.hpp"
#include "common/layers/model_layer.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

using model::Device;
using model::Memory;
using model::Ram;

constexpr std::uint8_t kUntouched = 0xa5;

std::string describe(const TestLayer& layer) {
  const RefLayer& r = layer.ref;
  return std::string(layer.hw->name) + (r.convolution ? " conv" : " sdp") +
         numbers({r.width, r.height, r.channels, r.kernels, r.kernel_width, r.kernel_height,
                  r.stride_width, r.stride_height, r.dilation_width, r.dilation_height, r.left,
                  r.right, r.top, r.bottom, r.clip}) +
         (r.wide_input ? " in16 " : " in8 ") + (r.wide_proc ? "proc16 " : "proc8 ") +
         (r.wide_output ? "out16" : "out8");
}

// Empty if all is as it should be. `change` comes after everything is programmed.
std::string check(const TestLayer& layer, const std::function<void(Registers&)>& change = {}) {
  Memory memory;
  memory.fill(Ram::kPrimary, layer.output.base - 4096, 1 << 20, std::byte{kUntouched});
  load(layer, memory);
  // On one, two or three threads, however small it is.
  Device device(*layer.hw, memory, {.threads = 1 + layer.ref.width % 3, .worth_sharing = 0});
  Registers registers(device);
  program(layer, registers, 0, 0);
  if (change) change(registers);
  enable(layer, registers);
  while (device.step()) {
  }
  if (!device.idle()) {
    const auto blocked = device.blocked();
    return "blocked: " + (blocked.empty() ? "no reason" : blocked.front().reason);
  }
  const RefResult result = reference(layer.ref);
  const auto expected = expected_bytes(layer, result);
  const std::uint64_t end = expected.rbegin()->first + 4096;
  const auto got =
      memory.read(Ram::kPrimary, layer.output.base - 4096, end - (layer.output.base - 4096));
  for (std::uint64_t i = 0; i < got.size(); ++i) {
    const std::uint64_t address = layer.output.base - 4096 + i;
    const auto found = expected.find(address);
    const std::uint8_t want = found == expected.end() ? kUntouched : found->second;
    if (std::to_integer<std::uint8_t>(got[i]) != want)
      return "byte at output + " + std::to_string(address - layer.output.base) + " is " +
             std::to_string(std::to_integer<int>(got[i])) + ", not " + std::to_string(want);
  }
  if (registers.read("SDP.D_PERF_OUT_SATURATION") != result.sdp_saturated)
    return "SDP saturation " + std::to_string(registers.read("SDP.D_PERF_OUT_SATURATION")) +
           ", not " + std::to_string(result.sdp_saturated);
  if (layer.ref.convolution && registers.read("CACC.D_OUT_SATURATION") != result.cacc_saturated)
    return "CACC saturation " + std::to_string(registers.read("CACC.D_OUT_SATURATION")) + ", not " +
           std::to_string(result.cacc_saturated);
  return {};
}

class RandomLayers : public testing::TestWithParam<const char*> {};

TEST_P(RandomLayers, EqualTheReference) {
  const nvdla_hw* hw = nvdla_hw_find(GetParam());
  ASSERT_NE(hw, nullptr);
  // Two precisions in the first generation.
  const unsigned drawn =
      for_all(share(hw->regmap == NVDLA_REGMAP_NV_FULL ? 2000 : 1000), [&](Random& random) {
        const bool convolution = pick(random, 0, 3) != 0;
        TestLayer layer = random_layer(*hw, random, convolution);
        // The public traces do so; the entries that are left over harm the next layer only.
        if (convolution && one_in(random, 2)) round_weights(layer, 128);
        return with_name(describe(layer), check(layer));
      });
  count_layers("convolution with SDP and SDP alone", drawn);
}

// CSC pads features, and has no registers for the right and the bottom border: it takes the padding
// value for whatever the outputs reach beyond the input, and leaves over what they do not reach.
TEST_P(RandomLayers, BordersOfFeaturesAreNotThoseOfCdma) {
  const nvdla_hw* hw = nvdla_hw_find(GetParam());
  ASSERT_NE(hw, nullptr);
  const unsigned drawn = for_all(share(200), [&](Random& random) {
    const TestLayer layer = random_layer(*hw, random, true);
    const auto borders = static_cast<std::uint32_t>(random());
    return with_name(describe(layer), check(layer, [&](Registers& registers) {
                       registers.write("CDMA.D_ZERO_PADDING", borders);
                     }));
  });
  count_layers("convolution with other borders in CDMA", drawn);
}

INSTANTIATE_TEST_SUITE_P(Configurations, RandomLayers, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
