// SPDX-License-Identifier: MIT
//
// Times of layers, exactly, on the mock's clock: from when a layer could start to when its end was
// seen.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace nvdla::test {
namespace {

struct Times {
  std::uint64_t start, end;
  bool operator==(const Times&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Times& times) {
  return out << times.start << ".." << times.end;
}

Times times_of(Program& program, std::size_t layer) {
  return {program.stats(layer).start_ns, program.stats(layer).end_ns};
}

// Goes on until the layer has ended, and says when the engine saw that.
std::uint64_t run_to_end(Rig& rig, std::uint32_t layer) {
  for (unsigned i = 0; i < 5000; ++i) {
    rig.device.tick();
    rig.interrupt();
    const u32 bit = layer - rig.engine.head;
    if (!rig.engine.job || layer < rig.engine.head || (bit < 16 && rig.engine.ended >> bit & 1))
      return rig.device.now;
  }
  ADD_FAILURE() << "layer " << layer << " does not end";
  return 0;
}

void submit(Rig& rig, Program& program) {
  ASSERT_EQ(rig.start(), 0);
  rig.device.now = 5000;
  ASSERT_EQ(rig.submit(program), 0);
}

// A fast layer behind a slow one, enabled with it, has the time in which it runs itself.
TEST(Times, OfALayerThatPendsBeginWhenTheOneBeforeEnds) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 900}, {}, {.ticks = 2}, {}}, NVDLA_PROGRAM_STATS);
  submit(rig, program);
  ASSERT_TRUE(rig.device.enabled(NVDLA_UNIT_SDP, 1)) << "enabled ahead";
  std::uint64_t start = 5000;
  for (std::uint32_t layer = 0; layer < 4; ++layer) {
    const std::uint64_t end = run_to_end(rig, layer);
    EXPECT_EQ(times_of(program, layer), (Times{start, end})) << layer;
    start = end;
  }
  EXPECT_GT(program.stats(0).end_ns - program.stats(0).start_ns, 900'000u);
  EXPECT_LT(program.stats(1).end_ns - program.stats(1).start_ns, 10'000u);
}

// The same where the next one waits, where a gated clock holds it back, in BDMA, behind tables: the
// times of a chain add up to the run's.
TEST(Times, OfAChainAddUp) {
  const std::vector<std::vector<LayerSpec>> chains = {
      {{.ticks = 9}, {.waits = {0}}, {.waits = {1}, .ticks = 3}, {.waits = {2}, .delay = 7}},
      {{.ticks = 9}, {}, {.ticks = 4}, {}, {.delay = 8}},
      {{.ticks = 9},
       {.kind = NVDLA_LAYER_PDP, .waits = {0}, .ticks = 5},
       {.kind = NVDLA_LAYER_CDP, .waits = {1}},
       {.kind = NVDLA_LAYER_BDMA, .waits = {2}},
       {.kind = NVDLA_LAYER_BDMA},
       {.kind = NVDLA_LAYER_RUBIK, .waits = {4}, .ticks = 4},
       {.kind = NVDLA_LAYER_CONV_SDP_PDP, .waits = {5}}},
      {{.silent = kSideUnits, .lingering = kSideUnits, .looks = 50}, {}, {}, {}},
      std::vector<LayerSpec>(2 * NVDLA_ENGINE_WINDOW + 1),
  };
  for (bool gated : {false, true})
    for (const auto& specs : chains) {
      Rig rig("nv_full", gated);
      Program program(rig.hw, specs, NVDLA_PROGRAM_STATS);
      submit(rig, program);
      ASSERT_NE(rig.run(), nullptr);
      const std::uint64_t end = program.stats(specs.size() - 1).end_ns;
      std::uint64_t sum = 0;
      for (std::size_t layer = 0; layer < specs.size(); ++layer) {
        const Times times = times_of(program, layer);
        EXPECT_LT(times.start, times.end) << layer;
        if (layer > 0) {
          EXPECT_EQ(times.start, program.stats(layer - 1).end_ns) << layer;
        }
        sum += times.end - times.start;
      }
      EXPECT_EQ(program.stats(0).start_ns, 5000u);
      EXPECT_EQ(sum, end - 5000);
    }
}

// Layers of other units have times that overlap, because they do.
TEST(Times, OfOtherUnitsOverlap) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 50}, {.kind = NVDLA_LAYER_PDP, .ticks = 5}},
                  NVDLA_PROGRAM_STATS);
  submit(rig, program);
  const std::uint64_t pdp = run_to_end(rig, 1), conv = run_to_end(rig, 0);
  EXPECT_LT(pdp, conv);
  EXPECT_EQ(times_of(program, 0), (Times{5000, conv}));
  EXPECT_EQ(times_of(program, 1), (Times{5000, pdp}));
}

// From the last of several that it waits for, and not from before it has its units.
TEST(Times, BeginWithTheLastThatWasInTheWay) {
  Rig rig;
  Program program(rig.hw,
                  {{.kind = NVDLA_LAYER_PDP, .ticks = 20},
                   {.kind = NVDLA_LAYER_CDP, .ticks = 60},
                   {.ticks = 5},
                   {.waits = {0, 1}},
                   {.kind = NVDLA_LAYER_PDP}},
                  NVDLA_PROGRAM_STATS);
  submit(rig, program);
  const std::uint64_t conv = run_to_end(rig, 2), pdp = run_to_end(rig, 0);
  const std::uint64_t behind = run_to_end(rig, 4), cdp = run_to_end(rig, 1);
  const std::uint64_t last = run_to_end(rig, 3);
  EXPECT_EQ(times_of(program, 2), (Times{5000, conv}));
  EXPECT_EQ(times_of(program, 4), (Times{pdp, behind}));
  EXPECT_EQ(times_of(program, 3), (Times{cdp, last}));
}

// A layer that ended ahead of the oldest is in nobody's way.
TEST(Times, BeginWithAnEndAheadOfTheOldest) {
  Rig rig;
  Program program(rig.hw,
                  {{.ticks = 200},
                   {.kind = NVDLA_LAYER_PDP, .ticks = 20},
                   {.kind = NVDLA_LAYER_PDP, .ticks = 20},
                   {.kind = NVDLA_LAYER_BDMA},
                   {.kind = NVDLA_LAYER_BDMA}},
                  NVDLA_PROGRAM_STATS);
  submit(rig, program);
  const std::uint64_t copy = run_to_end(rig, 3), second_copy = run_to_end(rig, 4);
  const std::uint64_t pdp = run_to_end(rig, 1), second = run_to_end(rig, 2);
  EXPECT_LT(second, run_to_end(rig, 0));
  EXPECT_EQ(times_of(program, 1), (Times{5000, pdp}));
  EXPECT_EQ(times_of(program, 2), (Times{pdp, second}));
  EXPECT_EQ(times_of(program, 4), (Times{copy, second_copy}));
}

// Two ends in one look are one time: the first layer has it all.
TEST(Times, OfEndsThatAreSeenAtOnce) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}}, NVDLA_PROGRAM_STATS);
  submit(rig, program);
  while ((rig.device.status() & 3) != 3) rig.device.tick();
  rig.device.now = 9'000'000;
  rig.interrupt();
  EXPECT_EQ(times_of(program, 0), (Times{5000, 9'000'000}));
  EXPECT_EQ(times_of(program, 1), (Times{9'000'000, 9'000'000}));
  const std::uint64_t end = run_to_end(rig, 2);
  EXPECT_EQ(times_of(program, 2), (Times{9'000'000, end}));
}

}  // namespace
}  // namespace nvdla::test
