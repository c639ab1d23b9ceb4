// SPDX-License-Identifier: MIT
//
// Parts of concatenations that begin atoms: where they may, and with equal results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

const PassReport& parts_report(const CompiledNetwork& compiled) {
  const auto& passes = compiled.passes();
  return *std::find_if(passes.begin(), passes.end(),
                       [](const PassReport& pass) { return pass.name == "part-atoms"; });
}

// `PartBlock` is a concatenation of convolutions of one input, and what reads it.
struct PartBlock {
  std::vector<std::uint32_t> parts = {20, 24, 16};  // channels
  std::uint32_t size = 12, batch = 1;
  std::uint32_t kernel = 1;  // of the readers
  Precision precision = Precision::kInt8;
  bool pools = true;         // a reader has a pooling before it
  bool pools_part = false;   // the last part comes of a pooling
  bool shows = false;        // the application reads the concatenation
  std::uint32_t groups = 1;  // of the readers

  Network network() const;
};

template <typename T>
Tensor add_part_conv(Network& network, Tensor from, Convolution conv, std::uint32_t channels) {
  const auto weights = test::random_values<T>(
      std::size_t{conv.kernels} * channels * conv.kernel_height * conv.kernel_width,
      conv.kernels + channels, -9, 9);
  conv.weights = std::span<const T>(weights);
  conv.output = {.scale = 1, .shift = 6};
  return network.convolution(from, conv);
}

Tensor add_part(Network& network, Tensor from, const Convolution& conv, std::uint32_t channels,
                Precision precision) {
  return precision == Precision::kInt8 ? add_part_conv<std::int8_t>(network, from, conv, channels)
                                       : add_part_conv<std::int16_t>(network, from, conv, channels);
}

Network PartBlock::network() const {
  Network network;
  const std::uint32_t deep = 32;
  const Tensor in = network.input(
      "in", {.channels = deep, .height = size, .width = size, .batch = batch}, precision);
  const Pooling pool = {.kernel_height = 3,
                        .kernel_width = 3,
                        .pad_top = 1,
                        .pad_bottom = 1,
                        .pad_left = 1,
                        .pad_right = 1};
  std::vector<Tensor> tensors;
  std::uint32_t channels = 0;
  for (const std::uint32_t part : parts) {
    Tensor tensor = add_part(network, in, {.kernels = part}, deep, precision);
    if (pools_part && tensors.size() + 1 == parts.size()) tensor = network.pooling(tensor, pool);
    tensors.push_back(tensor);
    channels += part;
  }
  const Tensor joined = network.concatenate(tensors, {.name = "joined"});
  Convolution reader = {.kernels = 30, .groups = groups};
  reader.kernel_height = reader.kernel_width = kernel;
  reader.pad_top = reader.pad_left = reader.pad_bottom = reader.pad_right = kernel / 2;
  reader.pad_value = 3;
  reader.tuning.winograd = Rewrite::kAuto;
  if (groups != 1) reader.tuning.winograd = Rewrite::kNever;
  network.output(add_part(network, joined, reader, channels / groups, precision), "out");
  if (pools)
    network.output(
        add_part(network, network.pooling(joined, pool), reader, channels / groups, precision),
        "pooled");
  if (shows) network.output(joined, "joined");
  return network;
}

std::vector<float> results_of_parts(const CompiledNetwork& compiled) {
  Request request = compiled.create_request();
  std::vector<float> from(compiled.desc("in").shape.elements()), results;
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<float>(static_cast<int>(i * 29 % 255) - 127);
  request.write("in", Layout::kNchw, std::span<const float>(from));
  request.run();
  for (std::uint32_t i = 0; i < compiled.outputs(); ++i) {
    const auto name = compiled.output_name(i);
    std::vector<float> to(compiled.desc(name).shape.elements());
    request.read(name, Layout::kNchw, std::span<float>(to));
    results.insert(results.end(), to.begin(), to.end());
  }
  return results;
}

TEST(PartAtoms, ChangeNoResult) {
  std::uint32_t applied = 0;
  test::for_all(30, [&](test::Random& random) -> std::string {
    const auto any = [&](int low, int high) {
      return static_cast<std::uint32_t>(random.pick(low, high));
    };
    PartBlock block;
    block.parts.clear();
    for (std::uint32_t count = any(2, 5); count > 0; --count) block.parts.push_back(any(1, 70));
    block.size = any(3, 16);
    block.batch = any(0, 3) == 0 ? 2 : 1;
    block.kernel = any(0, 1) * 2 + 1;
    block.pools = any(0, 1) != 0;
    block.pools_part = any(0, 1) != 0;
    const char* const devices[] = {"model:nv_full", "model:nv_large", "model:nv_small"};
    const Device device = Device::open(devices[any(0, 2)]);
    if (device.info().has_int16 && any(0, 2) == 0) block.precision = Precision::kInt16;
    const Network network = block.network();
    const CompiledNetwork with = network.compile(device);
    const CompiledNetwork without = network.compile(device, {.disabled_passes = {"part-atoms"}});
    applied += parts_report(with).applied;
    return results_of_parts(with) == results_of_parts(without) ? "" : "the results differ";
  });
  EXPECT_GE(applied, 2U);  // about half of the blocks, drawn anew in each run
}

std::uint32_t applied_parts(const PartBlock& block, const BuildOptions& options = {}) {
  return parts_report(block.network().compile(Device::open("model:nv_full"), options)).applied;
}

TEST(PartAtoms, NothingIsGatheredOrCopied) {
  const Device device = Device::open("model:nv_full");
  const PartBlock block{.pools_part = true};
  const CompiledNetwork compiled = block.network().compile(device);
  const auto copies = [](const CompiledNetwork& network) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < network.layers(); ++i)
      count += network.layer_name(i).starts_with("joined") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(copies(compiled), 0U);
  EXPECT_EQ(copies(block.network().compile(device, {.disabled_passes = {"part-atoms"}})), 5U);
  const auto& candidates = parts_report(compiled).candidates;
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].form, "gathered channels");
  EXPECT_EQ(candidates[1].form, "parts in atoms of their own");
  EXPECT_TRUE(candidates[1].chosen);
  EXPECT_LT(candidates[1].cycles, candidates[0].cycles);
}

TEST(PartAtoms, OnlyWhereEachReaderBearsGaps) {
  EXPECT_EQ(applied_parts({}), 1U);
  EXPECT_EQ(applied_parts({.shows = true}), 0U);
  EXPECT_EQ(applied_parts({.groups = 2}), 0U);
  EXPECT_EQ(applied_parts({.parts = {32, 64, 5}}), 0U);  // they begin atoms as it is
}

// Many kernels that see two blocks of channels in place of one cost more than what gathers.
TEST(PartAtoms, OnlyWhereTheyPay) {
  Network network;
  const Tensor in = network.input("in", {.channels = 32, .height = 12, .width = 12});
  std::vector<Tensor> parts;
  for (const std::uint32_t part : {20U, 12U, 20U, 12U})
    parts.push_back(add_part(network, in, {.kernels = part}, 32, Precision::kInt8));
  const Tensor joined = network.concatenate(parts, {.name = "joined"});
  Convolution reader = {.kernels = 512, .kernel_height = 3, .kernel_width = 3};
  network.output(add_part(network, joined, reader, 64, Precision::kInt8), "out");
  const CompiledNetwork compiled = network.compile(Device::open("model:nv_full"));
  EXPECT_EQ(parts_report(compiled).applied, 0U);
  ASSERT_EQ(parts_report(compiled).candidates.size(), 2U);
  EXPECT_TRUE(parts_report(compiled).candidates[0].chosen);
}

}  // namespace
}  // namespace nvdla
