// SPDX-License-Identifier: MIT
//
// Convolutions on devices that keep all weights of a layer in the buffer until the next one
// starts: cut by kernels where they do not fit, they give what logic without that fault gives.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/runtime/reference.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

// A convolution with all operands that a part of the kernels has to find, behind an input.
struct Layer {
  Shape in;
  std::uint32_t kernels = 1, size = 1;
  bool per_element = false;
  bool pooled = false;
};

class Cut {
 public:
  explicit Cut(const Layer& layer)
      : shape_(layer.in),
        weights_(test::random_values<std::int8_t>(
            std::size_t{layer.kernels} * layer.in.channels * layer.size * layer.size, 5, -128,
            127)),
        bias_(test::random_values<std::int32_t>(layer.kernels, 6, -30000, 30000)),
        elements_(test::random_values<std::int16_t>(
            std::size_t{layer.kernels} * layer.in.height * layer.in.width, 7, -9000, 9000)) {
    Convolution conv{.name = "conv",
                     .kernels = layer.kernels,
                     .kernel_height = layer.size,
                     .kernel_width = layer.size};
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = layer.size / 2;
    conv.weights = weights_;
    conv.bias = bias_;
    if (layer.per_element) conv.x2 = nvdla::bias(elements_);
    conv.output = {.scale = 1, .shift = 12};
    Tensor out = net_.convolution(net_.input("in", shape_), conv);
    if (layer.pooled) {
      out = net_.pooling(out, {.name = "pool",
                               .method = NVDLA_POOL_MAX,
                               .kernel_height = 2,
                               .kernel_width = 2,
                               .stride_height = 2,
                               .stride_width = 2});
    }
    net_.output(out, "out");
  }

  const Network& network() const { return net_; }
  // Without bands that take turns, which have nothing to do with the fault.
  Request build(const std::string& device) const {
    return net_.build(Device::open(device), {.disabled_passes = {"interleave"}});
  }

  std::vector<std::int8_t> run(Request& request, std::uint32_t seed) const {
    const std::size_t count = std::size_t{shape_.channels} * shape_.height * shape_.width;
    request.write("in", Layout::kNchw, test::random_values<std::int8_t>(count, seed, -128, 127));
    request.run();
    const Shape out = request.network().desc("out").shape;
    std::vector<std::int8_t> result(std::size_t{out.channels} * out.height * out.width);
    request.read("out", Layout::kNchw, result);
    return result;
  }

  // On a device with the fault and on one without.
  void expect_the_same(const std::string& configuration, bool cut) const {
    Request gated = build("model:" + configuration);
    Request mended = build("model:" + configuration + ",gating=off");
    if (cut) {
      EXPECT_GT(gated.network().layers(), mended.network().layers()) << configuration;
    }
    std::uint64_t macs = 0;
    for (std::uint32_t i = 0; i < gated.network().layers(); ++i)
      macs += gated.network().layer_macs(i);
    EXPECT_EQ(macs, net_.macs()) << configuration;
    ASSERT_EQ(run(gated, 9), run(mended, 9)) << configuration;
  }

 private:
  Shape shape_;
  std::vector<std::int8_t> weights_;
  std::vector<std::int32_t> bias_;
  std::vector<std::int16_t> elements_;
  Network net_;
};

// 216 KiB of weights, 16 KiB of data: of 128 KiB in nv_small, in its larger relatives 128 KiB and
// 512 KiB.
TEST(Resident, KernelsThatDoNotFitTogether) {
  const Cut cut({.in = {256, 8, 8}, .kernels = 96, .size = 3});
  cut.expect_the_same("nv_small", true);
  cut.expect_the_same("nv_small_256", true);
  cut.expect_the_same("nv_small_256_full", true);
  cut.expect_the_same("nv_large", false);
}

// Neither the lines nor the kernels fit; bands have lines in common.
TEST(Resident, BandsOfPartsOfKernels) {
  for (const Layer& layer : {Layer{.in = {512, 20, 18}, .kernels = 44, .size = 3},
                             Layer{.in = {384, 32, 20}, .kernels = 400, .per_element = true}}) {
    const Cut cut(layer);
    for (const char* configuration : {"nv_small", "nv_small_256"})
      cut.expect_the_same(configuration, true);
  }
}

// Entries of 32 or 64 bytes in which a part of the kernels may begin anywhere.
TEST(Resident, PartsThatBeginInsideAnEntry) {
  for (const char* configuration :
       {"nv_small_256", "nv_medium_512", "nv_medium_1024_full", "nv_large"}) {
    const Cut cut({.in = {1401, 4, 3}, .kernels = 300, .size = 2});
    cut.expect_the_same(configuration, true);
  }
}

TEST(Resident, PoolingsBehindPartsOfKernels) {
  const Cut cut({.in = {128, 12, 10}, .kernels = 180, .size = 3, .pooled = true});
  cut.expect_the_same("nv_small", true);
  const Request request = cut.build("model:nv_small");
  for (std::uint32_t i = 0; i < request.network().layers(); ++i)
    EXPECT_EQ(request.network().layer_name(i), "conv " + std::to_string(i + 1) + "/" +
                                                   std::to_string(request.network().layers()) +
                                                   "+pool");
}

TEST(Resident, ImagesWithManyKernels) {
  constexpr std::uint32_t kKernels = 1000, kSize = 7;
  const auto weights =
      test::random_values<std::int8_t>(std::size_t{kKernels} * 4 * kSize * kSize, 3, -128, 127);
  const auto pixels = test::random_values<std::uint8_t>(4 * 16 * 16, 4, 0, 255);
  Convolution conv{
      .name = "conv", .kernels = kKernels, .kernel_height = kSize, .kernel_width = kSize};
  conv.weights = weights;
  conv.input.offset = 128;
  conv.output = {.scale = 1, .shift = 11};
  Network net;
  const ImageDesc desc{.format = NVDLA_PIXEL_A8B8G8R8, .width = 16, .height = 16};
  net.output(net.convolution(net.image("in", desc), conv), "out");
  std::vector<std::vector<std::int8_t>> results;
  for (const char* device : {"model:nv_small", "model:nv_small,gating=off"}) {
    Request request = net.build(Device::open(device));
    request.write_pixels("in", std::as_bytes(std::span(pixels)));
    request.run();
    results.emplace_back(std::size_t{kKernels} * 10 * 10);
    request.read("out", Layout::kNchw, results.back());
  }
  EXPECT_EQ(results[0], results[1]);
}

// What a layer leaves in the buffer is the next one's, and the next job's: programs of one layer
// and of many, that keep weights from band to band and that do not, with other banks each.
TEST(Resident, ChainsOfLayersAndJobs) {
  const Cut cuts[] = {Cut({.in = {64, 4, 4}, .kernels = 8, .size = 3}),
                      Cut({.in = {8, 1, 1}, .kernels = 8}), Cut({.in = {2048, 2, 2}, .kernels = 8}),
                      Cut({.in = {256, 8, 8}, .kernels = 96, .size = 3}),
                      Cut({.in = {64, 70, 60}, .kernels = 24, .size = 3})};
  const Device device = Device::open("model:nv_small");
  const Device mended = Device::open("model:nv_small,gating=off");
  std::vector<Request> sessions, expected;
  for (const Cut& cut : cuts) {
    sessions.push_back(cut.network().build(device));
    expected.push_back(cut.network().build(mended));
  }
  for (std::uint32_t job = 0; job < 60; ++job) {
    const std::size_t i = job < 30 ? 0 : job % std::size(cuts);
    ASSERT_EQ(cuts[i].run(sessions[i], job), cuts[i].run(expected[i], job)) << "job " << job;
  }
}

TEST(Resident, MendedLogicStreamsAsBefore) {
  const Cut cut({.in = {256, 8, 8}, .kernels = 96, .size = 3});
  EXPECT_EQ(cut.build("model:nv_small,gating=off").network().layers(), 1U);
  EXPECT_EQ(cut.build("model:nv_full").network().layers(), 1U);
}

}  // namespace
}  // namespace nvdla
