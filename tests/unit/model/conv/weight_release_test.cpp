// SPDX-License-Identifier: MIT
//
// What becomes of weight entries over many layers: those that WEIGHT_BYTES brings too many, and
// those whose release a gated clock loses. Where a number of layers is given, simulation of
// nv_small's published logic came to it.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/layers/chain.hpp"
#include "common/property.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

using model::Quirks;

constexpr const char* kMissed = "gated, its clock has missed the release of ";

const nvdla_hw& nv_small() { return *nvdla_hw_find("nv_small"); }

TestLayer with_numbers(TestLayer layer) {
  Random random(1);
  RefLayer& ref = layer.ref;
  ref.input = random_bytes(random, std::size_t{ref.width} * ref.height * ref.channels);
  ref.weights = random_bytes(
      random, std::size_t{ref.kernels} * ref.kernel_width * ref.kernel_height * ref.channels);
  finish_layout(layer, random, false);
  return layer;
}

// 3x3x64, 576 of the 8,192 entries of 16 banks.
TestLayer square(bool keeps) {
  TestLayer layer = one_by_one(nv_small(), 64, 8);
  layer.ref.width = layer.ref.height = 4;
  layer.ref.kernel_width = layer.ref.kernel_height = 3;
  layer = with_numbers(layer);
  layer.data_banks = layer.weight_banks = 16;
  layer.keep_weights = keeps;
  return layer;
}

// A kernel of one entry, one bank.
TestLayer entry() {
  TestLayer layer = with_numbers(one_by_one(nv_small(), 8, 1));
  layer.data_banks = 16;
  return layer;
}

// One job after the other has ended; how many are right, in the order of `layer`.
unsigned jobs(Chain& chain, unsigned count, const std::function<TestLayer(unsigned)>& layer,
              bool fetch_first = true) {
  for (unsigned i = 0; i < count; ++i) {
    const TestLayer next = layer(i);
    load(next, chain.memory);
    chain.start(next, fetch_first);
    chain.run();
    if (!chain.reason().empty() || !chain.compare(next).empty()) return i;
  }
  return count;
}

// Jobs of three layers. `ahead`: a layer is enabled while the one before it is in the pipeline.
unsigned jobs_of_three(Chain& chain, unsigned count, const TestLayer& layer, bool ahead) {
  load(layer, chain.memory);
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned j = 0; j < 3; ++j) {
      if (ahead && j == 2) chain.run_one();
      chain.start(layer, true);
      if (!ahead) chain.run();
    }
    chain.run();
    if (!chain.reason().empty() || !chain.compare(layer).empty()) return i;
  }
  return count;
}

TEST(WeightRelease, ExactWeightBytesLeaveNothing) {
  Chain chain(nv_small());
  EXPECT_EQ(jobs(chain, 600, [](unsigned) { return entry(); }), 600u);
}

// 16 entries for one: the first layer is right, the next read zeros from behind its kernel.
TEST(WeightRelease, EntriesThatNoKernelReadsStay) {
  Chain chain(nv_small());
  TestLayer layer = entry();
  layer.weight_bytes = 128;
  EXPECT_EQ(jobs(chain, 2, [&](unsigned) { return layer; }), 1u);
  TestLayer zeros = layer;
  zeros.ref.weights.assign(8, 0);
  EXPECT_EQ(chain.compare(zeros), "");
  // 15 stay of each layer, and 512 are in the bank.
  for (unsigned i = 2; i < 34; ++i) {
    chain.start(layer, true);
    chain.run();
    ASSERT_EQ(chain.reason(), "") << i;
  }
  chain.start(layer, true);
  chain.run();
  EXPECT_EQ(chain.reason(),
            "WEIGHT_BYTES 128: kernel group 0 waits for 16 entries, CDMA has stored 2 and counts "
            "512 of the weight banks' 512 as taken");
  chain.device.reset();
  chain.group = 0;
  EXPECT_EQ(jobs(chain, 1, [&](unsigned) { return layer; }), 1u);
}

// The rest of WEIGHT_BYTES stays if the kernels are freed as they are read, and goes with them if
// they were kept.
TEST(WeightRelease, KeptKernelsTakeTheRestWithThem) {
  Chain chain(nv_small());
  TestLayer layer = entry();
  layer.weight_bytes = 128;
  layer.keep_weights = true;
  EXPECT_EQ(jobs(chain, 100, [&](unsigned) { return layer; }), 100u);
  // Reused and freed as they are read: the rest stays.
  layer.weight_reuse = true;
  layer.keep_weights = false;
  EXPECT_EQ(jobs(chain, 1, [&](unsigned) { return layer; }), 1u);
  EXPECT_EQ(jobs(chain, 1, [&](unsigned) { return entry(); }), 0u);
}

// Other banks begin at the first entry, and CDMA still counts what was left.
TEST(WeightRelease, TheCountSurvivesAChangeOfTheBanks) {
  for (const char* name : {"nv_full", "nv_large", "nv_small"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    Chain chain(hw);
    TestLayer layer = with_numbers(one_by_one(hw, 8, 1));
    const std::uint64_t entries = hw.cbuf_entries / 4;
    layer.weight_bytes = entries * hw.cbuf_entry_bytes;
    const unsigned ends = jobs(chain, 10, [&](unsigned i) {
      layer.data_banks = 2 + i % 2;
      return layer;
    });
    // Each leaves one less than a quarter of the bank, or nothing that counts.
    EXPECT_EQ(ends, hw.regmap == NVDLA_REGMAP_NV_FULL ? 10u : 4u) << name;
  }
}

TEST(GatedRelease, LosesWhatIsFreedAfterTheFetch) {
  Chain chain(nv_small(), Quirks::kGated);
  EXPECT_EQ(jobs(chain, 20, [](unsigned) { return square(false); }), 14u);
  EXPECT_NE(chain.reason().find(kMissed + std::to_string(14 * 576)), std::string::npos)
      << chain.reason();
  chain.device.reset();
  chain.group = 0;
  EXPECT_EQ(jobs(chain, 14, [](unsigned) { return square(false); }), 14u);
}

TEST(GatedRelease, ABankThatWasFullStaysFull) {
  Chain chain(nv_small(), Quirks::kGated);
  const auto pair = [](unsigned i) {
    TestLayer layer = with_numbers(one_by_one(nv_small(), i == 0 ? 4096 : 8, 1));
    layer.data_banks = 16;
    return layer;
  };
  EXPECT_EQ(jobs(chain, 2, pair), 1u);
  EXPECT_NE(chain.reason().find(kMissed), std::string::npos) << chain.reason();
  Chain ungated(nv_small());
  EXPECT_EQ(jobs(ungated, 2, pair), 2u);
}

// Rounded to 128, nothing of 16 entries a layer is ever freed.
TEST(GatedRelease, EntriesThatNoKernelReadsCountAsWell) {
  Chain chain(nv_small(), Quirks::kGated);
  TestLayer layer = entry();
  layer.weight_bytes = 128;
  load(layer, chain.memory);
  unsigned i = 0;
  for (; i < 45; ++i) {
    chain.start(layer, true);
    chain.run();
    if (!chain.reason().empty()) break;
  }
  EXPECT_EQ(i, 32u);
}

// Weights that are larger than their banks: CDMA fetches, and sees what is freed, almost to the
// end.
TEST(GatedRelease, SeesWhatIsFreedWhileItFetches) {
  Chain chain(nv_small(), Quirks::kGated);
  TestLayer layer = one_by_one(nv_small(), 64, 64);
  layer.ref.kernel_width = layer.ref.kernel_height = layer.ref.width = layer.ref.height = 3;
  layer = with_numbers(layer);
  // Eight groups of 576 entries, room for less than two: what was freed before the last entries
  // came is seen, the last group is not.
  layer.weight_banks = 2;
  EXPECT_EQ(jobs(chain, 3, [&](unsigned) { return layer; }), 1u);
  // All of the first layer fit, and are lost; of the second there is room for the first 3,584.
  layer.weight_banks = 16;
  chain.device.reset();
  chain.group = 0;
  EXPECT_EQ(jobs(chain, 3, [&](unsigned) { return layer; }), 2u);
}

TEST(GatedRelease, OfKeptWeightsComesWithTheNextLayer) {
  Chain chain(nv_small(), Quirks::kGated);
  EXPECT_EQ(jobs(chain, 120, [](unsigned) { return square(true); }), 120u);
}

TEST(GatedRelease, NeedsCdmaEnabledBeforeCsc) {
  Chain chain(nv_small(), Quirks::kGated);
  EXPECT_EQ(jobs(
                chain, 20, [](unsigned) { return square(true); }, false),
            14u);
}

TEST(GatedRelease, NeedsTheLayerBeforeToHaveEnded) {
  Chain chain(nv_small(), Quirks::kGated);
  // CDMA sees only what the first layer of a job frees: layer 20, counted from 0, finds no room.
  EXPECT_EQ(jobs_of_three(chain, 60, square(true), true), 6u);
  EXPECT_NE(chain.reason().find(kMissed), std::string::npos) << chain.reason();
}

TEST(GatedRelease, ComesWithAllThreeMeasures) {
  {
    Chain chain(nv_small(), Quirks::kGated);
    EXPECT_EQ(jobs_of_three(chain, 60, square(true), false), 60u);
  }
  const auto banks = [](unsigned data, unsigned weights) {
    TestLayer layer = square(true);
    layer.data_banks = data;
    layer.weight_banks = weights;
    return layer;
  };
  {
    Chain chain(nv_small(), Quirks::kGated);
    EXPECT_EQ(jobs(chain, 120, [&](unsigned i) { return banks(8 + i % 3, 16); }), 120u);
  }
  {
    Chain chain(nv_small(), Quirks::kGated);
    EXPECT_EQ(jobs(chain, 120, [&](unsigned i) { return banks(16, 4 + i % 5); }), 120u);
  }
  Chain chain(nv_small(), Quirks::kGated);
  EXPECT_EQ(jobs(chain, 40,
                 [](unsigned i) {
                   TestLayer layer = with_numbers(one_by_one(nv_small(), i % 2 == 0 ? 4096 : 8, 1));
                   layer.data_banks = 16;
                   layer.keep_weights = true;
                   return layer;
                 }),
            40u);
}

TEST(GatedRelease, IsOfConfigurationsThatHaveTheGate) {
  EXPECT_EQ(model::find_quirks("gated"), Quirks::kGated);
  EXPECT_EQ(model::find_quirks("rtl"), Quirks::kRtl);
  EXPECT_EQ(model::find_quirks("cmodel"), Quirks::kCmodel);
  EXPECT_EQ(model::find_quirks("auto"), std::nullopt);
  nvdla_hw hw = nv_small();
  hw.features |= NVDLA_HW_WEIGHT_GATING;
  EXPECT_EQ(model::silicon_quirks(hw), Quirks::kGated);
  hw.features &= ~NVDLA_HW_WEIGHT_GATING;
  EXPECT_EQ(model::silicon_quirks(hw), Quirks::kRtl);
}

TEST(GatedRelease, FirstGenerationHasNoSuchGate) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  Chain chain(hw, Quirks::kGated);
  TestLayer layer = with_numbers(one_by_one(hw, 128, 32));
  layer.weight_bytes = 128 * 32;
  EXPECT_EQ(jobs(
                chain, 40, [&](unsigned) { return layer; }, false),
            40u);
}

// Jobs of up to three layers, in any order and with what they keep, against the reference: it says
// where they hang. With all measures they never do.
TEST(GatedRelease, OfRandomJobsEqualsTheReference) {
  unsigned hang = 0;
  const unsigned drawn = for_all(share(60), [&](Random& random) {
    const bool measures = one_in(random, 3);
    Chain chain(nv_small(), Quirks::kGated);
    std::string text;
    for (unsigned job = 0; job < 40; ++job) {
      std::vector<TestLayer> layers;
      for (std::int64_t i = pick(random, 0, 2); i >= 0; --i) {
        TestLayer layer = one_by_one(nv_small(), static_cast<unsigned>(pick(random, 1, 200)),
                                     static_cast<unsigned>(pick(random, 1, 20)));
        layer.ref.height = static_cast<unsigned>(pick(random, 1, 3));
        layer = with_numbers(layer);
        layer.weight_banks = static_cast<unsigned>(one_in(random, 8) ? 2 : 1);
        layer.data_banks = static_cast<unsigned>(one_in(random, 8) ? 2 : 1);
        layer.keep_weights = measures || one_in(random, 2);
        layer.weights += 0x10'0000 * layers.size();
        layer.input.base += 0x10'0000 * layers.size();
        layer.output.base += 0x10'0000 * layers.size();
        layers.push_back(layer);
      }
      const bool fetch_first = measures || one_in(random, 2);
      const bool ahead = !measures && one_in(random, 2);
      bool ends = true;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        TestLayer& layer = layers[i];
        text += numbers({job, layer.ref.channels, layer.ref.kernels, layer.data_banks,
                         layer.weight_banks, layer.keep_weights, fetch_first, ahead}) +
                ";";
        load(layer, chain.memory);
        if (ahead && i == 2) chain.run_one();
        chain.start(layer, fetch_first);
        if (!ahead) chain.run();
        std::vector<std::vector<std::int32_t>> lines;
        for (unsigned y = 0; y < layer.ref.height; ++y)
          lines.emplace_back(layer.ref.input.begin() + y * layer.ref.channels,
                             layer.ref.input.begin() + (y + 1) * layer.ref.channels);
        if (ends) ends = chain.cbuf.run(layer, lines, fetch_first, ahead && i != 0);
      }
      chain.run();
      if (measures && !ends) return text + " the reference hangs";
      if (ends != chain.reason().empty()) return text + " " + chain.reason();
      if (!ends) {
        ++hang;
        return std::string();
      }
      for (const TestLayer& layer : layers)
        if (const std::string wrong = chain.compare(layer); !wrong.empty()) return text + wrong;
    }
    return std::string();
  });
  EXPECT_GE(hang, drawn / 4);
}

}  // namespace
}  // namespace nvdla::test
