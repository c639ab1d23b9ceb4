// SPDX-License-Identifier: MIT
//
// What a file says about how it was made.
#include <gtest/gtest.h>

#include <string>

#include "common/runtime/expect_error.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

Network copy_network() {
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "copy"}), "out");
  return net;
}

TEST(LoadableNote, IsKept) {
  const Network net = copy_network();
  const auto plain = make_loadable(net, "nv_small");
  EXPECT_EQ(Loadable::load(plain).note(), "");
  EXPECT_EQ(make_loadable(net, "nv_small", LoadableOptions{}), plain);
  const std::string text = std::string("made by hand\n\xff\0.", 16);
  const Loadable file = Loadable::load(make_loadable(net, "nv_small", {.note = text}));
  EXPECT_EQ(file.note(), text);
  EXPECT_EQ(file.inputs(), 1U);
}

TEST(LoadableNote, HasALimit) {
  const Network net = copy_network();
  EXPECT_EQ(Loadable::load(make_loadable(net, "nv_small", {.note = std::string(65536, 'x')}))
                .note()
                .size(),
            65536U);
  test::expect_error(
      ErrorCode::kInvalidArgument, "a note of 65537 bytes; expected at most 65536",
      [&] { (void)make_loadable(net, "nv_small", {.note = std::string(65537, 'x')}); });
}

TEST(LoadableNote, NamesTheDeviceThatLayersWereChosenFor) {
  const Network net = copy_network();
  const auto device_of = [&](const char* configuration, const LoadableOptions& options) {
    return std::string(Loadable::load(make_loadable(net, configuration, options)).device());
  };
  EXPECT_EQ(device_of("nv_small", {}), "");
  EXPECT_EQ(device_of("nv_small", {.weight_gating = false}), "model:nv_small,gating=off");
  EXPECT_EQ(device_of("nv_large", {.weight_gating = false, .memory = {.outstanding = 16}}),
            "model:nv_large,gating=off,outstanding=16");
  EXPECT_EQ(device_of("nv_small", {.weight_gating = false, .revision = 2019}),
            "model:nv_small,gating=off,revision=2019");
  const std::string full = "model:nv_full,latency=50,bandwidth=20.5,sram=4096,sram-latency=8";
  EXPECT_EQ(device_of("nv_full", {.memory = {.latency = 50, .bandwidth = 20.5, .sram_latency = 8},
                                  .sram_bytes = 4096}),
            full);
  EXPECT_EQ(Device::open(full).info().memory.bandwidth, 20.5);
}

TEST(LoadableNote, NamesPassesThatABudgetCutShort) {
  const auto weights = std::vector<std::int8_t>(std::size_t{64} * 64 * 9, 1);
  Network network;
  Tensor at = network.input("in", {.channels = 64, .height = 28, .width = 28});
  for (int layer = 0; layer < 2; ++layer) {
    Convolution conv{.kernels = 64, .kernel_height = 3, .kernel_width = 3, .weights = weights};
    conv.tuning.winograd = Rewrite::kAuto;
    at = network.convolution(at, conv);
  }
  network.output(at, "out");
  const auto cut_short = [&](std::uint64_t forms) {
    const auto bytes = make_loadable(network, "nv_full", LoadableOptions{.search_budget = forms});
    return std::string(Loadable::load(bytes).cut_short());
  };
  EXPECT_EQ(cut_short(0), "");
  EXPECT_EQ(cut_short(1), "winograd interleave");
  EXPECT_EQ(cut_short(2), "interleave");
  EXPECT_EQ(cut_short(1000000), "");
}

}  // namespace
}  // namespace nvdla
