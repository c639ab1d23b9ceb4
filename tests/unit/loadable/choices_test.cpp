// SPDX-License-Identifier: MIT
//
// What the compiler chooses never costs: no layer is refused that compiles without choices, and
// none is predicted to be slower, whatever the device and its memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/info.hpp"
#include "common/property.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"
#include "tools/profile/layer_profile.hpp"

namespace nvdla::test {
namespace {

const std::vector<std::string> kChoices = {"part-atoms",  "winograd",      "pixels",
                                           "fold-inputs", "fuse-poolings", "batch",
                                           "interleave",  "stage-weights"};
constexpr std::uint64_t kMostWeights = 1'500'000;

// A layer or two as networks have them, of sizes up to the largest that these have.
Network draw_network(Random& random, std::string& name) {
  const auto any = [&](int low, int high) {
    return static_cast<std::uint32_t>(random.pick(low, high));
  };
  const bool first = any(0, 4) == 0;
  const std::uint32_t channels = first ? any(1, 4) : any(1, 32) * (any(0, 1) != 0 ? 16 : 3);
  const std::uint32_t kernels = any(1, 24) * (any(0, 1) != 0 ? 16 : 5);
  const std::uint32_t kernel = first ? any(1, 11) : any(0, 2) * 2 + 1;
  const std::uint32_t size = std::max(first ? any(20, 150) : any(1, 60), kernel);
  const std::uint32_t stride = any(1, 2), batch = any(0, 3) == 0 ? any(2, 4) : 1;
  if (std::uint64_t{channels} * kernels * kernel * kernel > kMostWeights) discard();
  name = fmt::format("{}x{}x{}x{}, {} kernels of {}, stride {}", batch, channels, size, size,
                     kernels, kernel, stride);
  const auto weights = random_values<std::int8_t>(std::size_t{channels} * kernels * kernel * kernel,
                                                  any(1, 1000), -9, 9);
  Convolution conv{.name = "conv", .kernels = kernels};
  conv.kernel_height = conv.kernel_width = kernel;
  conv.stride_height = conv.stride_width = stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = kernel / 2;
  conv.weights = weights;
  conv.output = {.scale = 1, .shift = 9};
  Convolution::Tuning& tuning = conv.tuning;
  (any(0, 1) != 0 ? tuning.winograd : tuning.folding) = Rewrite::kAuto;
  Network network;
  Tensor at = network.convolution(
      network.input("in", {.channels = channels, .height = size, .width = size, .batch = batch}),
      conv);
  const std::vector<std::int8_t> narrow(std::size_t{kernels} * 64, 1);
  if (any(0, 1) != 0)
    at = network.convolution(
        at, {.name = "next", .kernels = 64, .weights = narrow, .output = {.scale = 1, .shift = 9}});
  network.output(at, "out");
  return network;
}

// Parts of a concatenation, and convolutions that read it, some behind a pooling.
Network draw_concatenation(Random& random, std::string& name) {
  const auto any = [&](int low, int high) {
    return static_cast<std::uint32_t>(random.pick(low, high));
  };
  const std::uint32_t deep = any(1, 8) * 16, size = any(1, 30);
  Network network;
  const auto add = [&](Tensor from, std::uint32_t channels, std::uint32_t kernels,
                       std::uint32_t kernel) {
    const auto weights = random_values<std::int8_t>(
        std::size_t{channels} * kernels * kernel * kernel, any(1, 1000), -9, 9);
    Convolution conv{.kernels = kernels};
    conv.kernel_height = conv.kernel_width = kernel;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = kernel / 2;
    conv.weights = weights;
    conv.output = {.scale = 1, .shift = 9};
    return network.convolution(from, conv);
  };
  const Tensor in = network.input("in", {.channels = deep, .height = size, .width = size});
  std::vector<Tensor> parts;
  std::uint32_t channels = 0;
  name = fmt::format("{}x{}x{}, parts of", deep, size, size);
  for (std::uint32_t count = any(2, 4); count > 0; --count) {
    const std::uint32_t kernels = any(1, 90);
    name += fmt::format(" {}", kernels);
    parts.push_back(add(in, deep, kernels, 1));
    channels += kernels;
  }
  const Tensor joined = network.concatenate(parts, {.name = "joined"});
  for (std::uint32_t readers = any(1, 3); readers > 0; --readers) {
    const std::uint32_t kernels = any(1, 300), kernel = any(0, 1) * 2 + 1;
    name += fmt::format(", {} kernels of {}", kernels, kernel);
    Pooling pool{.kernel_height = 3, .kernel_width = 3};
    pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = 1;
    const bool pools = any(0, 2) == 0;
    if (pools) name += " behind a pooling";
    network.output(add(pools ? network.pooling(joined, pool) : joined, channels, kernels, kernel),
                   fmt::format("out{}", readers));
  }
  return network;
}

// Returns the predicted cycles of a loadable, or nothing if the network is refused.
std::optional<std::uint64_t> cycles_of(const Network& network, const Device& device,
                                       const std::string& name,
                                       const std::vector<std::string>& forbidden,
                                       std::uint64_t budget = 0) {
  const DeviceInfo& info = device.info();
  LoadableOptions options;
  options.weight_gating = info.has_weight_gating;
  options.memory = info.memory;
  options.disabled_passes = forbidden;
  options.search_budget = budget;
  std::vector<std::byte> bytes;
  try {
    bytes = make_loadable(network, info.configuration, options);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::uint64_t cycles = 0;
  const Loadable file = Loadable::load(bytes);
  for (const auto& layer : program::profile_layers(file, *detail::find_configuration(info),
                                                   program::memory_of(name), {}))
    cycles = std::max(cycles, layer.cycles.total);
  return cycles;
}

// Draws so many networks, and expects that none is slower on any device than without `forbidden`.
void expect_no_cost(std::uint32_t count, Network (*draw)(Random&, std::string&),
                    const std::vector<std::string>& forbidden, std::uint32_t most_forms = 0) {
  const char* const devices[] = {"nv_full", "nv_large", "nv_small", "nv_small,gating=off"};
  const char* const memories[] = {"", ",latency=50,bandwidth=20",
                                  ",latency=100,outstanding=16,bandwidth=10"};
  double all_off = 0, all_chosen = 0;
  for_all(count, [&](Random& random) -> std::string {
    const std::string device =
        std::string("model:") + devices[random.pick(0, 3)] + memories[random.pick(0, 2)];
    std::string name;
    const Network network = draw(random, name);
    const Device model = Device::open(device);
    const auto off = cycles_of(network, model, device, forbidden);
    const auto budget =
        most_forms == 0 ? 0
                        : static_cast<std::uint64_t>(random.pick(1, static_cast<int>(most_forms)));
    const auto chosen = cycles_of(network, model, device, {}, budget);
    if (!off) return {};
    if (!chosen) return fmt::format("{} on {}: refused", name, device);
    all_off += static_cast<double>(*off);
    all_chosen += static_cast<double>(*chosen);
    if (*chosen > *off) return fmt::format("{} on {}: {} > {}", name, device, *chosen, *off);
    return {};
  });
  fmt::print("{:.3f} of the cycles without choices\n", all_chosen / all_off);
}

TEST(Choices, NeverCost) { expect_no_cost(1000, draw_network, kChoices); }

TEST(Choices, GapsBetweenPartsNeverCost) {
  expect_no_cost(300, draw_concatenation, {"part-atoms"});
}

TEST(Choices, FewFormsNeverCost) {
  expect_no_cost(300, draw_network, kChoices, 100);
  expect_no_cost(100, draw_concatenation, kChoices, 100);
}

}  // namespace
}  // namespace nvdla::test
