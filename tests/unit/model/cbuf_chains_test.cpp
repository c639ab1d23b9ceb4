// SPDX-License-Identifier: MIT
//
// Chains of convolutions: what each leaves in the convolution buffer, the next one finds there.
// The model against two rings of the tests' own.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/cbuf_reference.hpp"
#include "support/configurations.hpp"
#include "support/model_layer.hpp"
#include "support/property.hpp"
#include "support/share.hpp"

namespace nvdla::test {
namespace {

using model::Device;
using model::Memory;
using model::Options;
using model::Quirks;
using model::Ram;

std::vector<std::int32_t> bytes(Random& random, std::size_t count) {
  Random data = random.fork();
  std::vector<std::int32_t> result(count);
  for (auto& one : result) one = static_cast<std::int32_t>(pick(data, -128, 127));
  return result;
}

// A convolution of kernels as large as its input, but for the height.
TestLayer one_by_one(const nvdla_hw& hw, unsigned channels, unsigned kernels) {
  TestLayer layer;
  layer.hw = &hw;
  layer.ref.first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  layer.ref.channels = channels;
  layer.ref.kernels = kernels;
  layer.ref.shift = 5;
  layer.ref.lanes = (kernels + hw.atom - 1) / hw.atom * hw.atom;
  layer.ref.input.assign(channels, 0);
  layer.ref.weights.assign(std::size_t{channels} * kernels, 0);
  Random none(0);
  finish_layout(layer, none, false);
  return layer;
}

struct Chain {
  explicit Chain(const nvdla_hw& config, Quirks quirks = Quirks::kRtl)
      : hw(config),
        device(config, memory, Options{.quirks = quirks}),
        regs(device),
        cbuf(config, quirks == Quirks::kGated && config.regmap != NVDLA_REGMAP_NV_FULL) {}

  void run() {
    while (device.step()) {
    }
  }

  void start(const TestLayer& layer, bool fetch_first) {
    program(layer, regs, group, 0);
    enable(layer, regs, fetch_first);
    group ^= 1;
  }

  // Why it does not end; empty if it does.
  std::string reason() const {
    return device.idle() ? std::string() : device.blocked().front().reason;
  }

  // What the layer leaves in memory, against what it should.
  std::string compare(const TestLayer& layer) {
    for (const auto& [address, want] : expected_bytes(layer, reference(layer.ref))) {
      const auto got = memory.read(Ram::kPrimary, address, 1);
      if (std::to_integer<std::uint8_t>(got[0]) != want)
        return "byte " + std::to_string(address - layer.output.base) + " is " +
               std::to_string(std::to_integer<int>(got[0])) + ", not " + std::to_string(want);
    }
    return {};
  }

  // Brings the input into memory, in whole lines, and runs the layer; `want` becomes what it should
  // compute. What is wrong, or nothing; `ends` tells whether the chain goes on.
  std::string step(TestLayer layer, const std::vector<std::vector<std::int32_t>>& fetched,
                   bool fetch_first = true) {
    TestLayer in_memory = layer;
    in_memory.ref.height = static_cast<unsigned>(fetched.size());
    in_memory.ref.input.clear();
    for (const auto& line : fetched)
      in_memory.ref.input.insert(in_memory.ref.input.end(), line.begin(), line.end());
    load(in_memory, memory);
    // What is behind the kernels is stored with them.
    const std::vector<std::byte> stream = weight_stream(layer);
    if (layer.weight_bytes > stream.size())
      memory.fill(Ram::kPrimary, layer.weights + stream.size(), layer.weight_bytes - stream.size(),
                  std::byte{0});
    layer.fetched_height = static_cast<unsigned>(fetched.size());
    start(layer, fetch_first);
    run();
    ends = cbuf.run(layer, fetched, fetch_first);
    if (!ends) return reason().empty() ? "it ends, and should wait for ever" : "";
    return reason().empty() ? compare(layer) : reason();
  }

  const nvdla_hw& hw;
  Memory memory;
  Device device;
  Registers regs;
  RefCbuf cbuf;
  unsigned group = 0;
  bool ends = true;
};

// Draws the next layer of a chain whose lines and kernels stay of one size: other kernels, other
// banks, reuse, partial release, too large a WEIGHT_BYTES. Returns the lines in memory.
std::vector<std::vector<std::int32_t>> draw_next(TestLayer& layer, const RefCbuf& cbuf,
                                                 Random& random) {
  const nvdla_hw& hw = *layer.hw;
  RefLayer& ref = layer.ref;
  const unsigned data_banks = layer.data_banks;
  layer.data_banks = static_cast<unsigned>(one_in(random, 6) ? pick(random, 2, 4) : 3);
  if (one_in(random, 6)) layer.weight_banks = static_cast<unsigned>(pick(random, 1, 3));

  // Lines that are fetched, and that CSC works on.
  const auto lines = static_cast<unsigned>(pick(random, 3, 8));
  ref.height = lines;
  layer.data_reuse = one_in(random, 2);
  if (layer.data_reuse && data_banks == layer.data_banks) {
    const auto held = static_cast<unsigned>(cbuf.lines());
    ref.height = cbuf.keeps_all_lines() ? static_cast<unsigned>(pick(random, 1, held))
                                        : cbuf.kept_lines() + lines;
  }
  layer.keep_data = one_in(random, 3);
  layer.release =
      static_cast<unsigned>(one_in(random, 2) ? pick(random, 1, ref.height) : ref.height);

  // Only the same kernels are reused.
  layer.weight_reuse = one_in(random, 3) && ref.kernel_height <= ref.height;
  if (!layer.weight_reuse || !cbuf.keeps_weights()) {
    ref.kernels = static_cast<unsigned>(pick(random, 1, one_in(random, 3) ? 70 : 9));
    ref.kernel_width = static_cast<unsigned>(pick(random, 1, ref.width));
    ref.kernel_height = static_cast<unsigned>(pick(random, 1, std::min(3u, ref.height)));
    ref.weights = bytes(
        random, std::size_t{ref.kernels} * ref.kernel_width * ref.kernel_height * ref.channels);
    const unsigned weight_banks = layer.weight_banks;
    round_weights(layer, one_in(random, 2) ? 128 : hw.weight_align);
    layer.weight_banks = weight_banks;
    if (one_in(random, 4)) {
      const std::int64_t most = one_in(random, 4) ? hw.cbuf_entries : 20;
      layer.weight_bytes += hw.weight_align * static_cast<std::uint64_t>(pick(random, 1, most));
    }
  }
  // A group at a time needs room for a group and 128 bytes.
  const std::uint64_t bank = std::uint64_t{hw.cbuf_entries} * hw.cbuf_entry_bytes;
  const std::uint64_t group = packed_weights(layer) / ref.kernels * hw.atomic_k + 256;
  layer.weight_banks =
      std::max(layer.weight_banks, static_cast<unsigned>((group + bank - 1) / bank));
  layer.keep_weights = one_in(random, 2) && layer.weight_bytes <= layer.weight_banks * bank;

  ref.lanes = (ref.kernels + hw.atom - 1) / hw.atom * hw.atom;
  layer.input.line = std::uint64_t{ref.width} * hw.atom;
  layer.input.surface = lines * layer.input.line;
  layer.output.line = std::uint64_t{ref.out_width()} * hw.atom;
  layer.output.surface = ref.out_height() * layer.output.line;
  std::vector<std::vector<std::int32_t>> fetched(lines);
  for (auto& line : fetched) line = bytes(random, std::size_t{ref.width} * ref.channels);
  return fetched;
}

std::string describe(const TestLayer& layer) {
  const RefLayer& ref = layer.ref;
  return "\n  lines" + numbers({ref.height, layer.release, layer.data_banks}) + " kernels" +
         numbers({ref.kernels, ref.kernel_width, ref.kernel_height,
                  static_cast<std::int64_t>(layer.weight_bytes), layer.weight_banks}) +
         " reuses, keeps data" + numbers({layer.data_reuse, layer.keep_data}) +
         " reuses, keeps weights" + numbers({layer.weight_reuse, layer.keep_weights});
}

class CbufChains : public testing::TestWithParam<const char*> {
 protected:
  const nvdla_hw& hw_ = *nvdla_hw_find(GetParam());
};

TEST_P(CbufChains, EqualTheRings) {
  const unsigned count = share(300);
  unsigned layers = 0, waits = 0;
  for_all(count, [&](Random& random) {
    Chain chain(hw_, one_in(random, 2) ? Quirks::kGated : Quirks::kRtl);
    TestLayer layer = one_by_one(hw_, static_cast<unsigned>(pick(random, 1, 40)), 1);
    layer.ref.width = static_cast<unsigned>(pick(random, 1, 5));
    layer.line_packed = layer.surface_packed = true;
    std::string text = hw_.name;
    for (unsigned i = 0; chain.ends && i < 12; ++i, ++layers) {
      const auto fetched = draw_next(layer, chain.cbuf, random);
      text += describe(layer);
      const std::string wrong = chain.step(layer, fetched, !one_in(random, 4));
      if (!wrong.empty()) return text + ": " + wrong;
    }
    waits += !chain.ends;
    return std::string();
  });
  count_layers("in chains of up to 12 convolutions", layers);
  // Of both kinds enough.
  EXPECT_GT(layers, count * 3);
  EXPECT_GT(waits, count / 50);
}

INSTANTIATE_TEST_SUITE_P(Configurations, CbufChains, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
