// SPDX-License-Identifier: MIT
#include "common/layers/chain.hpp"

#include "common/integers.hpp"

namespace nvdla::test {

using model::Quirks;
using model::Ram;

std::vector<std::int32_t> random_bytes(Random& random, std::size_t count) {
  Random data = random.fork();
  std::vector<std::int32_t> result(count);
  for (auto& one : result) one = static_cast<std::int32_t>(pick(data, -128, 127));
  return result;
}

TestLayer one_by_one(const nvdla_hw& hw, unsigned channels, unsigned kernels) {
  TestLayer layer;
  layer.hw = &hw;
  layer.ref.first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  layer.ref.channels = channels;
  layer.ref.kernels = kernels;
  layer.ref.shift = 5;
  layer.ref.lanes = static_cast<unsigned>(round_up(kernels, hw.atom));
  layer.ref.input.assign(channels, 0);
  layer.ref.weights.assign(std::size_t{channels} * kernels, 0);
  Random none(0);
  finish_layout(layer, none, false);
  return layer;
}

Chain::Chain(const nvdla_hw& config, Quirks quirks)
    : hw(config),
      device(config, memory, {.quirks = quirks}),
      regs(device),
      cbuf(config, quirks == Quirks::kGated && config.regmap != NVDLA_REGMAP_NV_FULL) {}

void Chain::start(const TestLayer& layer, bool fetch_first) {
  program(layer, regs, group, 0);
  enable(layer, regs, fetch_first);
  group ^= 1;
}

void Chain::run() {
  while (device.step()) {
  }
}

void Chain::run_one() {
  const std::uint32_t status = regs.read("CDMA.S_STATUS");
  while (regs.read("CDMA.S_STATUS") == status && device.step()) {
  }
}

std::string Chain::reason() const {
  return device.idle() ? std::string() : device.blocked().front().reason;
}

std::string Chain::compare(const TestLayer& layer) {
  for (const auto& [address, want] : expected_bytes(layer, reference(layer.ref))) {
    const auto got = memory.read(Ram::kPrimary, address, 1);
    if (std::to_integer<std::uint8_t>(got[0]) != want)
      return "byte " + std::to_string(address - layer.output.base) + " is " +
             std::to_string(std::to_integer<int>(got[0])) + ", not " + std::to_string(want);
  }
  return {};
}

std::string Chain::step(TestLayer layer, const std::vector<std::vector<std::int32_t>>& fetched,
                        bool fetch_first) {
  TestLayer in_memory = layer;
  in_memory.ref.height = static_cast<unsigned>(fetched.size());
  in_memory.ref.input.clear();
  for (const auto& line : fetched)
    in_memory.ref.input.insert(in_memory.ref.input.end(), line.begin(), line.end());
  load(in_memory, memory);
  // What is behind the kernels is stored with them.
  const std::uint64_t packed = packed_weights(layer);
  if (layer.weight_bytes > packed)
    memory.fill(Ram::kPrimary, layer.weights + packed, layer.weight_bytes - packed, std::byte{0});
  layer.fetched_height = static_cast<unsigned>(fetched.size());
  start(layer, fetch_first);
  run();
  ends = cbuf.run(layer, fetched, fetch_first);
  if (!ends) return reason().empty() ? "it ends, and should wait for ever" : "";
  return reason().empty() ? compare(layer) : reason();
}

}  // namespace nvdla::test
