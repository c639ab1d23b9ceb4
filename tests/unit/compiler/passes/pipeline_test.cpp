// SPDX-License-Identifier: MIT
//
// The list of passes: each that can be left out changes no result, and reports name what each did.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/random_graph.hpp"
#include "common/runtime/random_layers.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

const std::vector<std::string> kOptional = {"expand", "padding",     "winograd",
                                            "pixels", "fold-inputs", "mark-poolings",
                                            "batch",  "views",       "fuse-poolings"};

std::vector<std::int8_t> weights_for(std::size_t count) {
  std::vector<std::int8_t> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = static_cast<std::int8_t>(i * 37 % 15) - 7;
  return weights;
}

// A convolution with a pooling behind it, and one that is put beside another tensor.
Network small_network(Rewrite winograd = Rewrite::kAuto) {
  const auto weights = weights_for(std::size_t{32} * 32 * 9);
  const Convolution conv = {.name = "conv",
                            .kernels = 32,
                            .kernel_height = 3,
                            .kernel_width = 3,
                            .pad_top = 1,
                            .pad_bottom = 1,
                            .pad_left = 1,
                            .pad_right = 1,
                            .weights = weights,
                            .output = requantize(0.01)};
  Network network;
  const Tensor in = network.input("in", {.channels = 32, .height = 16, .width = 16});
  Convolution second = conv;
  second.name = "second";
  second.tuning.winograd = winograd;
  const Tensor first = network.pooling(network.convolution(in, conv), {.name = "pool",
                                                                       .kernel_height = 2,
                                                                       .kernel_width = 2,
                                                                       .stride_height = 2,
                                                                       .stride_width = 2});
  const Tensor parts[] = {network.convolution(first, second), first};
  network.output(network.concatenate(parts, {.name = "both"}), "out");
  return network;
}

std::uint32_t applied(const CompiledNetwork& compiled, const std::string& name) {
  const auto& passes = compiled.passes();
  const auto found = std::find_if(passes.begin(), passes.end(),
                                  [&](const PassReport& pass) { return pass.name == name; });
  return found == passes.end() ? ~0U : found->applied;
}

void expect_refused(const Network& network, const std::vector<std::string>& disabled,
                    const std::string& message) {
  BuildOptions options;
  options.disabled_passes = disabled;
  try {
    network.compile(Device::open("model:nv_full"), options);
    ADD_FAILURE() << "not refused: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Passes, LeftOutChangeNoResult) {
  test::for_all(300, [](test::Random& random) -> std::string {
    const std::string configuration = test::any_configuration(random);
    const Device device = Device::open("model:" + configuration);
    const test::RandomGraph graph(random, device.info());
    BuildOptions options;
    for (const std::string& name : kOptional)
      if (random.pick(0, 1) != 0) options.disabled_passes.push_back(name);
    return test::with_name(configuration, graph.wrong(graph.network().build(device, options)));
  });
}

TEST(Passes, ReportWhatEachDid) {
  const Device device = Device::open("model:nv_full");
  const CompiledNetwork all = small_network().compile(device);
  EXPECT_EQ(applied(all, "winograd"), 1u);
  EXPECT_EQ(applied(all, "mark-poolings"), 1u);
  EXPECT_EQ(applied(all, "fuse-poolings"), 1u);
  EXPECT_EQ(applied(all, "fold-inputs"), 0u);
  // The second convolution writes whole tiles and so lies for itself, the pooling lies there.
  EXPECT_EQ(applied(all, "views"), 1u);
  BuildOptions options;
  options.disabled_passes = kOptional;
  const CompiledNetwork none = small_network().compile(device, options);
  ASSERT_EQ(none.passes().size(), all.passes().size());
  for (const PassReport& pass : none.passes()) {
    const bool optional =
        std::find(kOptional.begin(), kOptional.end(), pass.name) != kOptional.end();
    EXPECT_EQ(pass.enabled, !optional) << pass.name;
    EXPECT_FALSE(pass.purpose.empty()) << pass.name;
    EXPECT_TRUE(pass.enabled || pass.applied == 0) << pass.name;
  }
  EXPECT_GT(none.layers(), all.layers());
}

TEST(Passes, OnlyThoseThatCanBeLeftOutAre) {
  const std::string right =
      "those are expand, padding, winograd, pixels, fold-inputs, mark-poolings, batch, views, "
      "fuse-poolings";
  expect_refused(small_network(), {"bands"},
                 "disabled_passes: 'bands' is no pass that can be left out; " + right);
  expect_refused(small_network(), {"views", "Views"},
                 "disabled_passes: 'Views' is no pass that can be left out; " + right);
}

TEST(Passes, LayersThatInsistAreRefusedWithoutTheirs) {
  expect_refused(small_network(Rewrite::kAlways), {"winograd"},
                 "layer 2 'second': it insists on what the pass 'winograd' does, which "
                 "disabled_passes leaves out");
}

}  // namespace
}  // namespace nvdla
