// SPDX-License-Identifier: MIT
//
// Chains of convolutions: what each leaves in the convolution buffer, the next one finds there.
// The model against two rings of the tests' own.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/configurations.hpp"
#include "common/layers/chain.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

using model::Quirks;
using model::Ram;

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
    ref.weights = random_bytes(
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
  for (auto& line : fetched) line = random_bytes(random, std::size_t{ref.width} * ref.channels);
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

// Each layer computes from the bytes that the rings have where CSC reads, or waits where theirs do.
TEST_P(CbufChains, EqualTheRings) {
  unsigned layers = 0, waits = 0;
  const unsigned drawn = for_all(share(300), [&](Random& random) {
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
  EXPECT_GT(layers, drawn * 3);
  EXPECT_GE(waits, drawn / 50);
}

// A cube of one column and one line lies packed where its surfaces are an atom apart. What CDMA
// takes for one is the lines that it fetches, also where CSC has more.
TEST_P(CbufChains, SurfacesOfOneFetchedLineArePackedOnlyWhereTheyAre) {
  for (const bool wrong : {false, true}) {
    Chain chain(hw_);
    Random random(3);
    TestLayer layer = one_by_one(hw_, 3 * hw_.atom, 5);
    RefLayer& ref = layer.ref;
    ref.height = 4;
    ref.kernel_height = 2;
    ref.weights = random_bytes(random, std::size_t{5} * 2 * ref.channels);
    round_weights(layer, hw_.weight_align);
    layer.output.line = hw_.atom;
    layer.output.surface = std::uint64_t{3} * hw_.atom;
    // The strides of the whole cube of five lines.
    layer.input.line = hw_.atom;
    layer.input.surface = std::uint64_t{5} * hw_.atom;
    layer.line_packed = true;
    layer.surface_packed = false;
    std::vector<std::vector<std::int32_t>> lines(5);
    for (auto& line : lines) line = random_bytes(random, ref.channels);
    TestLayer whole = layer;
    whole.ref.height = 5;
    whole.ref.input.clear();
    for (const auto& line : lines)
      whole.ref.input.insert(whole.ref.input.end(), line.begin(), line.end());
    load(whole, chain.memory);

    layer.release = 1;
    chain.start(layer, true);
    chain.run();
    ASSERT_EQ(chain.reason(), "");
    layer.release = 4;
    layer.data_reuse = true;
    layer.fetched_height = 1;
    layer.input.base += 4 * layer.input.line;
    layer.surface_packed = wrong;
    chain.start(layer, true);
    chain.run();
    ASSERT_EQ(chain.reason(), "");

    // The line before is that of the first surface's atom, the next atoms are no surfaces of it.
    if (wrong)
      for (unsigned c = hw_.atom; c < ref.channels; ++c) {
        const std::uint64_t address = layer.input.base + c;
        lines[4][c] = std::to_integer<std::int8_t>(chain.memory.read(Ram::kPrimary, address, 1)[0]);
      }
    ref.input.clear();
    for (unsigned y = 1; y < 5; ++y)
      ref.input.insert(ref.input.end(), lines[y].begin(), lines[y].end());
    EXPECT_EQ(chain.compare(layer), "") << (wrong ? "packed" : "not packed");
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, CbufChains, testing::ValuesIn(kConfigurations),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
