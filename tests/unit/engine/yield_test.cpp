// SPDX-License-Identifier: MIT
//
// A job makes room for another one between two layers, and goes on later: nothing runs twice,
// nothing is left out, groups are where the hardware has them, what the convolution buffer keeps is
// used.
#include <gtest/gtest.h>

#include <random>

#include "rig.hpp"

namespace nvdla::test {
namespace {

using Layers = std::vector<std::uint32_t>;

// Layers that ended in this job, in the order of the program.
Layers ran(const Rig& rig) {
  Layers layers = rig.device.ended;
  std::sort(layers.begin(), layers.end());
  return layers;
}

void expect_yielded(Rig& rig, Program& program, const Layers& layers, std::uint32_t first,
                    std::uint32_t ended = 0) {
  ASSERT_EQ(rig.run(2000), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_YIELDED);
  EXPECT_EQ(program.job().layer, first);
  EXPECT_EQ(program.job().first, first);
  EXPECT_EQ(program.job().ended, ended);
  EXPECT_EQ(ran(rig), layers);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  EXPECT_EQ(nvdla_engine_next_deadline(&rig.engine), NVDLA_NO_DEADLINE);
}

// All that is missing, and no more.
void expect_rest(Rig& rig, Program& program, const Layers& layers) {
  ASSERT_EQ(rig.submit(program), 0);
  ASSERT_EQ(rig.run(2000), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_OK);
  EXPECT_EQ(program.job().layer, 0u);
  EXPECT_EQ(program.job().first, 0u) << "from its beginning when it is submitted again";
  EXPECT_EQ(program.job().ended, 0u);
  EXPECT_EQ(ran(rig), layers);
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
}

void run_another(Rig& rig) {
  Program other(rig.hw, {{.rdma = true}, {.kind = NVDLA_LAYER_PDP}, {.kind = NVDLA_LAYER_CDP}, {}});
  other.job().serial = 8;
  ASSERT_EQ(rig.submit(other), 0);
  expect_ok(rig, other);
}

TEST(Yield, EndsBehindTheLayersThatAreEnabled) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr) << "two run";
  expect_yielded(rig, program, {0, 1}, 2);
  run_another(rig);
  expect_rest(rig, program, {2, 3, 4});
}

// Nothing is programmed from then on, let alone enabled.
TEST(Yield, WritesNoMoreImages) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}, {.kind = NVDLA_LAYER_PDP, .waits = {0}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  rig.device.writes.clear();
  expect_yielded(rig, program, {0, 1}, 2);
  for (const auto& write : rig.device.writes)
    EXPECT_EQ(write.offset & ~0xfffu, kBases[0][NVDLA_UNIT_GLB]) << write.offset;
}

TEST(Yield, AskedAgainChangesNothing) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {.tied = true}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  for (int i = 0; i < 50 && rig.engine.job; ++i) {
    nvdla_engine_yield(&rig.engine);
    rig.device.tick();
    rig.interrupt();
  }
  expect_yielded(rig, program, {0, 1, 2}, 3);
}

// Neither before a job nor after one; the next is not asked.
TEST(Yield, IsForTheJobThatRuns) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}, {}});
  nvdla_engine_yield(&rig.engine);
  ASSERT_EQ(rig.start(), 0);
  nvdla_engine_yield(&rig.engine);
  ASSERT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  nvdla_engine_yield(&rig.engine);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0, 1}, 2);
  expect_rest(rig, program, {2, 3});
}

// A job of which nothing is missing did not yield.
TEST(Yield, ThatComesTooLateIsNone) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CDP, .ticks = 20}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  expect_ok(rig, program);
  EXPECT_EQ(program.job().first, 0u);
  EXPECT_EQ(program.job().ended, 0u);
}

// Each time at least one layer runs.
TEST(Yield, AlwaysMakesProgress) {
  Rig rig;
  Program program(rig.hw, {{}, {.waits = {0}}, {.waits = {1}}, {.waits = {2}}});
  ASSERT_EQ(rig.start(), 0);
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    ASSERT_EQ(rig.submit(program), 0);
    nvdla_engine_yield(&rig.engine);
    expect_yielded(rig, program, {layer}, layer + 1);
    run_another(rig);
  }
  expect_rest(rig, program, {3});
}

// Layers that ended ahead of the oldest one are not run again.
TEST(Yield, RemembersWhatEndedAhead) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_PDP, .ticks = 30},
                           {.waits = {0}},
                           {.kind = NVDLA_LAYER_CDP},
                           {.kind = NVDLA_LAYER_RUBIK},
                           {.kind = NVDLA_LAYER_CDP, .waits = {1, 2}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (rig.engine.ended != 0xc) {
    ASSERT_LT(rig.device.ticks, 25u);
    rig.device.tick();
    rig.interrupt();
  }
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0, 2, 3}, 1, 0x6);
  run_another(rig);
  expect_rest(rig, program, {1, 4});
}

// What is waited for may have ended before the job yielded, ahead of the oldest layer or not.
TEST(Yield, WaitsAreOverWithAnEarlierRun) {
  Rig rig;
  Program program(rig.hw, {{},
                           {.kind = NVDLA_LAYER_PDP, .ticks = 30},
                           {.kind = NVDLA_LAYER_CDP},
                           {.waits = {1}},
                           {.kind = NVDLA_LAYER_SDP, .waits = {0, 1, 2}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (rig.engine.head != 1 || rig.engine.ended != 2) {
    ASSERT_LT(rig.device.ticks, 25u);
    rig.device.tick();
    rig.interrupt();
  }
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0, 1, 2}, 3);
  expect_rest(rig, program, {3, 4});
}

// A convolution that was to keep something is followed by the layers up to the one that uses it.
TEST(Yield, TiedLayersFollow) {
  Rig rig;
  Program program(rig.hw, {{.ticks = 20},
                           {.kind = NVDLA_LAYER_PDP, .waits = {0}, .tied = true},
                           {.waits = {1}, .tied = true},
                           {.kind = NVDLA_LAYER_CDP, .waits = {2}, .tied = true},
                           {.kind = NVDLA_LAYER_CDP, .tied = true},
                           {.waits = {3}, .tied = true},
                           {.kind = NVDLA_LAYER_CDP, .waits = {5}},
                           {.waits = {6}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  // Another layer was independent and enabled already.
  expect_yielded(rig, program, {0, 1, 2, 3, 4, 5}, 6);
  run_another(rig);
  expect_rest(rig, program, {6, 7});
}

// Also when the convolution has ended and something else runs.
TEST(Yield, TiedLayersFollowWhatHasEnded) {
  Rig rig;
  Program program(rig.hw, {{},
                           {.kind = NVDLA_LAYER_PDP, .waits = {0}, .tied = true, .ticks = 20},
                           {.waits = {1}, .tied = true},
                           {.waits = {2}}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  while (rig.engine.head == 0) {
    ASSERT_LT(rig.device.ticks, 15u);
    rig.device.tick();
    rig.interrupt();
  }
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0, 1, 2}, 3);
  expect_rest(rig, program, {3});
}

// What is tied to a convolution that did not begin comes with it, later.
TEST(Yield, TiedLayersFollowNothingThatHasNotBegun) {
  Rig rig;
  Program program(rig.hw, {{.kind = NVDLA_LAYER_PDP, .ticks = 10},
                           {.waits = {0}},
                           {.tied = true},
                           {.kind = NVDLA_LAYER_CDP}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0, 3}, 1, 0x4);
  run_another(rig);
  expect_rest(rig, program, {1, 2});
}

// Where more layers are tied than are looked at, they follow all the same.
TEST(Yield, TiedLayersFollowBeyondTheWindow) {
  Rig rig;
  std::vector<LayerSpec> specs(2 * NVDLA_ENGINE_WINDOW + 3);
  for (std::size_t i = 1; i + 1 < specs.size(); ++i) specs[i].tied = true;
  Program program(rig.hw, specs);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  Layers all(specs.size() - 1);
  std::iota(all.begin(), all.end(), 0u);
  expect_yielded(rig, program, all, static_cast<std::uint32_t>(all.size()));
  expect_rest(rig, program, {static_cast<std::uint32_t>(all.size())});
}

// Groups that were written ahead go to whoever comes next, in every unit.
TEST(Yield, GivesBackGroupsThatWereProgrammed) {
  for (std::uint32_t kind = NVDLA_LAYER_CONV_SDP; kind <= NVDLA_LAYER_BDMA; ++kind) {
    Rig rig;
    LayerSpec first{.kind = kind == NVDLA_LAYER_CDP ? NVDLA_LAYER_PDP : NVDLA_LAYER_CDP};
    Program program(rig.hw, {first, {.kind = kind, .waits = {0}}, {.kind = kind, .waits = {0}}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    const u32 next = rig.engine.next_group;
    EXPECT_EQ(rig.engine.taken, 7u) << "written ahead";
    nvdla_engine_yield(&rig.engine);
    expect_yielded(rig, program, {0}, 1);
    EXPECT_EQ(rig.engine.next_group, next) << "two layers moved each unit back and forth";
    EXPECT_EQ(rig.engine.busy[0] | rig.engine.busy[1], 0u);
    run_another(rig);
    expect_rest(rig, program, {1, 2});
    // One of them.
    Program odd(rig.hw, {first, {.kind = kind, .waits = {0}}});
    ASSERT_EQ(rig.submit(odd), 0);
    nvdla_engine_yield(&rig.engine);
    expect_yielded(rig, odd, {0}, 1);
    run_another(rig);
    expect_rest(rig, odd, {1});
  }
}

TEST(Yield, StatisticsGoOn) {
  constexpr std::uint64_t kCounter = 1ull << NVDLA_COUNTER_SDP_SATURATION;
  Rig rig;
  std::vector<LayerSpec> specs(5);
  for (LayerSpec& spec : specs) spec.counters = kCounter;
  Program program(rig.hw, specs, NVDLA_PROGRAM_STATS);
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0, 1}, 2);
  EXPECT_EQ(program.stats(1).valid, kCounter);
  EXPECT_NE(program.stats(2).valid, kCounter);
  const std::uint64_t cut = rig.device.now;
  run_another(rig);
  expect_rest(rig, program, {2, 3, 4});
  for (std::uint32_t layer = 0; layer < 5; ++layer) {
    EXPECT_EQ(program.stats(layer).valid, kCounter) << layer;
    EXPECT_EQ(program.stats(layer).counter[NVDLA_COUNTER_SDP_SATURATION],
              MockDevice::counter(layer, NVDLA_UNIT_SDP, NVDLA_SDP_D_PERF_OUT_SATURATION));
    EXPECT_EQ(program.stats(layer).start_ns >= cut, layer >= 2) << layer;
  }
}

// Tables that another job loaded are loaded again.
TEST(Yield, TablesAreNotTaken) {
  Rig rig;
  const std::vector<LayerSpec> specs = {{.lut = 1}, {.lut = 1, .ticks = 3}, {.lut = 1}};
  std::vector<nvdla_lut> luts(1);
  Program mine(rig.hw, specs), theirs(rig.hw, specs);
  mine.set_luts(luts);
  theirs.set_luts(luts);
  theirs.job().serial = 8;
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(mine), 0);
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, mine, {0, 1}, 2);
  EXPECT_EQ(rig.engine.debug.lut_loads, 1u);
  ASSERT_EQ(rig.submit(theirs), 0);
  expect_ok(rig, theirs);
  EXPECT_EQ(rig.engine.debug.lut_loads, 2u);
  expect_rest(rig, mine, {2});
  EXPECT_EQ(rig.engine.debug.lut_loads, 3u);
}

// A job that fails on its way is as failed as any.
TEST(Yield, DoesNotHideAFailure) {
  Rig rig;
  Program program(rig.hw, {{}, {.waits = {0}, .hangs = true}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  expect_yielded(rig, program, {0}, 1);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  ASSERT_EQ(rig.run(100), nullptr);
  rig.expire();
  rig.expire();
  ASSERT_EQ(nvdla_engine_done(&rig.engine), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_HANG);
  EXPECT_EQ(program.job().layer, 1u);
  EXPECT_EQ(program.job().first, 0u);
  EXPECT_EQ(rig.submit(program), -NVDLA_SUBMIT_STOPPED);
}

TEST(Yield, CanBeAborted) {
  Rig rig;
  Program program(rig.hw, {{}, {}, {}});
  ASSERT_EQ(rig.start(), 0);
  ASSERT_EQ(rig.submit(program), 0);
  nvdla_engine_yield(&rig.engine);
  nvdla_engine_abort(&rig.engine);
  ASSERT_EQ(nvdla_engine_done(&rig.engine), &program.job());
  EXPECT_EQ(program.job().result, NVDLA_JOB_CANCELED);
}

// It begins at its beginning, or where it yielded.
TEST(Yield, AJobBeginsNowhereElse) {
  struct Case {
    std::uint32_t first, ended;
    bool taken;
  };
  const Case cases[] = {
      {0, 0, true},  {1, 0, false},        {2, 0, false},        {3, 0, true},
      {4, 0, true},  {5, 0, false},        {~0u, 0, false},      {0, 1, false},
      {3, 1, false}, {3, 2, true},         {3, 4, false},        {4, 2, false},
      {0, 2, false}, {0, 6, true},         {0, 1u << 4, true},   {0, 1u << 5, false},
      {0, 16, true}, {0, 1u << 31, false}, {3, 1u << 16, false}, {0, 8, true},
  };
  for (const Case& c : cases) {
    Rig rig;
    // A convolution, two that are tied to it, two others.
    Program program(rig.hw, {{}, {.tied = true}, {.tied = true}, {}, {.kind = NVDLA_LAYER_CDP}});
    ASSERT_EQ(rig.start(), 0);
    program.job().first = c.first;
    program.job().ended = c.ended;
    EXPECT_EQ(nvdla_engine_submit(&rig.engine, &program.job()), c.taken ? 0 : -NVDLA_SUBMIT_INVALID)
        << c.first << ", " << c.ended;
  }
}

// By its estimates: for how long what is enabled goes on behind the longest of the layers that run.
std::uint64_t rest_behind_one(const Rig& rig, Program& program) {
  std::uint64_t longest = 0, end = 0;
  std::map<std::uint32_t, std::uint64_t> ends;  // of units, those of layers before
  for (std::uint32_t i = 0; i < NVDLA_ENGINE_WINDOW; ++i) {
    if (!((rig.engine.enabled & ~rig.engine.ended) >> i & 1)) continue;
    const nvdla_layer_image& image = program.image(rig.engine.head + i);
    std::uint64_t begin = 0;
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
      if (image.units >> unit & 1) begin = std::max(begin, ends[unit]);
    // The clock has 1 GHz.
    if (begin == 0) longest = std::max(longest, image.cycles);
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
      if (image.units >> unit & 1) ends[unit] = begin + image.cycles;
    end = std::max(end, begin + image.cycles);
  }
  return end - longest;
}

// Whenever a job is asked, whoever waits has to wait for one layer and 10 ms at most: what pends is
// short, and of that no more than two layers can come one after the other.
TEST(Yield, ALayerAndAShortTimeAreLeft) {
  constexpr std::uint64_t kMost = 2 * NVDLA_MAX_PENDING_NS;
  static_assert(kMost <= 10'000'000);
  std::uint64_t most = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
    Rig rig("nv_full", (seed & 1) != 0);
    std::vector<LayerSpec> specs(60);
    for (LayerSpec& spec : specs) {
      spec.kind = 1 + pick(NVDLA_LAYER_BDMA);
      spec.rdma = pick(2) && spec.kind <= NVDLA_LAYER_CONV_SDP_PDP;
      spec.ticks = 1 + pick(6);
      spec.cycles = pick(4) == 0 ? 1 + pick(1'000'000'000) : NVDLA_MAX_PENDING_NS - pick(100'000);
    }
    Program program(rig.hw, specs);
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    for (nvdla_job* job = nullptr; !job; job = nvdla_engine_done(&rig.engine)) {
      const std::uint64_t left = rest_behind_one(rig, program);
      ASSERT_LE(left, kMost) << "seed " << seed << ", layer " << rig.engine.head;
      most = std::max(most, left);
      rig.device.tick();
      rig.interrupt();
    }
    ASSERT_EQ(program.job().result, NVDLA_JOB_OK);
  }
  EXPECT_GT(most, kMost - 200'000) << "two do come one after the other";
}

class Interrupted : public ::testing::TestWithParam<unsigned> {};

// Two programs of all kinds of layers take turns, and each is asked to yield at random moments.
TEST_P(Interrupted, JobsTakeTurns) {
  const bool small = GetParam() & 1, gated = GetParam() & 2, silent = GetParam() & 4;
  Rig rig(small ? "nv_small" : "nv_full", gated);
  std::mt19937 random(GetParam());
  auto pick = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  auto make = [&] {
    std::vector<LayerSpec> specs;
    std::uint32_t before = 0;  // behind the last convolution
    for (std::uint32_t i = 0; i < 60; ++i) {
      LayerSpec spec;
      spec.kind = 1 + pick(small ? 6 : 7);
      spec.rdma = pick(2) && spec.kind <= NVDLA_LAYER_CONV_SDP_PDP;
      spec.ticks = 1 + pick(6);
      spec.delay = pick(5);
      if (silent) {
        spec.silent = spec.lingering = kSideUnits;
        spec.looks = pick(9);
      }
      if (i > 0 && pick(3) == 0) spec.waits = {i - 1 - pick(std::min(i, 20u))};
      specs.push_back(spec);
      if (spec.kind > NVDLA_LAYER_CONV_SDP_PDP) continue;
      // As the compiler does: all from behind the convolution before.
      if (before > 0 && pick(2))
        for (std::uint32_t n = before; n <= i; ++n) specs[n].tied = true;
      before = i + 1;
    }
    return specs;
  };
  Program one(rig.hw, make()), two(rig.hw, make());
  two.job().serial = 8;
  std::map<Program*, std::vector<unsigned>> runs = {{&one, std::vector<unsigned>(60)},
                                                    {&two, std::vector<unsigned>(60)}};
  ASSERT_EQ(rig.start(), 0);
  unsigned yields = 0;
  std::vector<Program*> waiting = {&one, &two};
  while (!waiting.empty()) {
    Program* program = waiting.front();
    waiting.erase(waiting.begin());
    ASSERT_EQ(rig.submit(*program), 0);
    const unsigned moment = pick(30);
    nvdla_job* job = nullptr;
    for (unsigned i = 0; i < 5000 && !job; ++i) {
      if (i == moment) nvdla_engine_yield(&rig.engine);
      rig.device.tick();
      if (pick(3)) rig.interrupt();
      job = nvdla_engine_done(&rig.engine);
    }
    ASSERT_EQ(job, &program->job()) << "stuck at layer " << rig.engine.head;
    ASSERT_EQ(rig.device.violations, std::vector<std::string>{});
    for (std::uint32_t layer : rig.device.ended) ++runs[program][layer];
    if (job->result == NVDLA_JOB_YIELDED) {
      ++yields;
      waiting.push_back(program);
      // A convolution that is tied comes with the one before it, wherever that is.
      for (std::uint32_t layer = 0, before = 0; layer < 60; ++layer) {
        if (!(program->image(layer).units >> NVDLA_UNIT_CSC & 1)) continue;
        if (program->image(layer).tied) {
          EXPECT_EQ(runs[program][layer], runs[program][before]) << layer;
        }
        before = layer;
      }
    } else {
      ASSERT_EQ(job->result, NVDLA_JOB_OK);
    }
  }
  EXPECT_GT(yields, 3u);
  for (const auto& [program, counts] : runs) EXPECT_EQ(counts, std::vector<unsigned>(60, 1));
  EXPECT_EQ(rig.engine.debug.spurious, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Interrupted, ::testing::Range(0u, 40u),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace nvdla::test
