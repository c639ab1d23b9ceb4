// SPDX-License-Identifier: MIT
//
// The threads that share a layer: each lot is made once and taken once, in order, whoever makes it;
// and convolutions of all modes come out the same on any number of threads. Run under TSan.
#include "model/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "model/device.hpp"
#include "support/conv_case.hpp"
#include "support/property.hpp"
#include "support/random_conv.hpp"
#include "support/share.hpp"

namespace nvdla::test {
namespace {

using model::Team;

// Each lot is a number that is only right if its slot is its own.
class Numbers final : public Team::Work {
 public:
  Numbers(const Team& team, std::size_t lots)
      : slots_(team.slots()), made_(lots), busy_(team.size()) {}

  void make(unsigned member, std::size_t lot, std::size_t slot) noexcept override {
    wrong_ = wrong_ || member >= busy_.size() || busy_[member].exchange(true);
    if (lot % 7 == 0) std::this_thread::yield();
    slots_.at(slot) = lot * lot + 1;
    made_.at(lot).fetch_add(1);
    busy_[member] = false;
  }
  void take(std::size_t lot, std::size_t slot) override {
    if (lot == bad_) throw std::runtime_error("enough");
    takers_.insert(std::this_thread::get_id());
    taken_.push_back(lot);
    wrong_ = wrong_ || slots_.at(slot) != lot * lot + 1;
  }

  // Empty if all is as it should be.
  std::string verdict() const {
    if (wrong_) return "a lot was lost";
    for (std::size_t lot = 0; lot < made_.size(); ++lot) {
      if (made_[lot] != 1) return "lot " + std::to_string(lot) + " was not made once";
      if (taken_.at(lot) != lot) return "lot " + std::to_string(lot) + " was not taken in order";
    }
    if (taken_.size() != made_.size()) return "lots were taken twice";
    if (made_.empty()) return {};
    return takers_ == std::set{std::this_thread::get_id()} ? "" : "another thread took a lot";
  }
  void throw_at(std::size_t lot) { bad_ = lot; }
  const std::vector<std::size_t>& taken() const { return taken_; }

 private:
  std::vector<std::size_t> slots_;
  std::vector<std::atomic<unsigned>> made_;
  std::vector<std::atomic<bool>> busy_;
  std::atomic<bool> wrong_{false};
  std::size_t bad_ = SIZE_MAX;
  std::vector<std::size_t> taken_;
  std::set<std::thread::id> takers_;
};

TEST(Team, MakesAndTakesEachLotOnce) {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    Team team(threads, 0);
    EXPECT_EQ(team.size(), threads);
    for (const std::size_t lots : {0u, 1u, 2u, 5u, 16u, 17u, 400u}) {
      Numbers numbers(team, lots);
      team.run(numbers, lots, 1);
      EXPECT_EQ(numbers.verdict(), "") << threads << " threads, " << lots << " lots";
    }
  }
}

TEST(Team, OneForEachProcessor) {
  EXPECT_EQ(Team(0, 0).size(), std::max(1u, std::thread::hardware_concurrency()));
}

TEST(Team, SharesWhatIsWorthIt) {
  EXPECT_FALSE(Team(1, 0).shares(1e9));
  EXPECT_FALSE(Team(2, 1000).shares(999));
  EXPECT_TRUE(Team(2, 1000).shares(1000));
}

// Alone the caller makes all, one after the other, in one slot.
TEST(Team, LittleWorkStaysOnTheCaller) {
  class Little final : public Team::Work {
   public:
    void make(unsigned member, std::size_t lot, std::size_t slot) noexcept override {
      calls.push_back({member, lot, slot});
      caller = caller && std::this_thread::get_id() == id;
    }
    void take(std::size_t lot, std::size_t slot) override { calls.push_back({9, lot, slot}); }
    const std::thread::id id = std::this_thread::get_id();
    bool caller = true;
    std::vector<std::array<std::size_t, 3>> calls;
  } little;
  Team(4, 1000).run(little, 2, 999);
  EXPECT_TRUE(little.caller);
  const std::vector<std::array<std::size_t, 3>> expected = {
      {0, 0, 0}, {9, 0, 0}, {0, 1, 0}, {9, 1, 0}};
  EXPECT_EQ(little.calls, expected);
}

TEST(Team, GoesOnAfterAnExceptionOfTake) {
  Team team(4, 0);
  for (const std::size_t bad : {0u, 1u, 50u, 99u}) {
    Numbers numbers(team, 100);
    numbers.throw_at(bad);
    EXPECT_THROW(team.run(numbers, 100, 1), std::runtime_error);
    EXPECT_EQ(numbers.taken().size(), bad);
  }
  Numbers numbers(team, 100);
  team.run(numbers, 100, 1);
  EXPECT_EQ(numbers.verdict(), "");
}

// What a layer leaves in memory and in its counters.
std::vector<std::uint32_t> outcome(ConvCase own, std::uint64_t seed, unsigned threads) {
  model::Memory memory;
  Random random(seed);
  finish(own, random, memory);
  model::Device device(*own.hw, memory, {.threads = threads, .worth_sharing = 0});
  Registers regs(device);
  program(own, regs);
  regs.set("SDP.D_PERF_ENABLE", {{"PERF_SAT_EN", 1}});
  enable(regs);
  while (device.step()) {
  }
  EXPECT_TRUE(device.idle());
  return {regs.read("CACC.D_OUT_SATURATION"), regs.read("SDP.D_PERF_OUT_SATURATION"),
          memory.crc(model::Ram::kPrimary, own.output.base, own.batches * own.out_batch_stride)};
}

TEST(SharedLayers, AreTheSameOnAnyNumberOfThreads) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  const unsigned count = share(300);
  for_all(count, [&](Random& random) -> std::string {
    const auto number = static_cast<Number>(pick(random, 0, 2));
    const ConvCase layer = one_in(random, 3)   ? random_winograd(hw, random, number)
                           : one_in(random, 4) ? random_image(hw, random, 13, Number::kInt8)
                                               : random_direct(hw, random, number, number);
    const std::uint64_t seed = random();
    const auto one = outcome(layer, seed, 1);
    for (const unsigned threads : {2u, 5u})
      if (outcome(layer, seed, threads) != one)
        return describe(layer) + ": differs on " + std::to_string(threads) + " threads";
    return {};
  });
}

}  // namespace
}  // namespace nvdla::test
