// SPDX-License-Identifier: MIT
//
// How sides take turns, and when their results are the same.
#include "compare/alternate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compare/alike.hpp"

namespace {

using nvdla::bench::Rounds;
using nvdla::bench::Side;
using nvdla::bench::Timing;

// Sides that write down their turns, and take long enough to be timed one by one.
struct Turns {
  std::vector<Side> sides(unsigned count) {
    std::vector<Side> all;
    for (char name = 'a'; name < static_cast<char>('a' + count); ++name)
      all.push_back({std::string(1, name), [this, name] {
                       order += name;
                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     }});
    return all;
  }

  std::string order;
};

Rounds exactly(unsigned count) {
  Rounds rounds;
  rounds.seconds = 0;
  rounds.least = rounds.most = count;
  rounds.wall = true;
  return rounds;
}

TEST(Alternate, WarmSidesRunOnceBeforeTheyAreTimed) {
  Turns turns;
  const auto timings = nvdla::bench::alternate(turns.sides(2), exactly(2));
  // First runs, how long one takes, a round there and a round back.
  EXPECT_EQ(turns.order,
            "ab"
            "ab"
            "aabb"
            "bbaa");
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_EQ(timings[0].ratio, 1);
  EXPECT_GE(timings[1].seconds, 1e-3);
}

TEST(Alternate, ColdSidesRunOnlyWhileTheyAreTimed) {
  Turns turns;
  Rounds rounds = exactly(3);
  rounds.cold = true;
  nvdla::bench::alternate(turns.sides(3), rounds);
  EXPECT_EQ(turns.order,
            "abc"
            "abc"
            "cba"
            "abc");
}

TEST(Alternate, QuickSidesAreTimedSeveralAtOnce) {
  unsigned runs = 0;
  const std::vector<Side> sides = {{"a", [&runs] { ++runs; }}};
  Rounds rounds = exactly(1);
  rounds.wall = false;
  // Once first, once for how long it takes, once to be warm, and then more than once, unless what
  // the processor did besides made it look slow.
  for (int i = 0; i < 1000 && runs <= 4; ++i) {
    runs = 0;
    nvdla::bench::alternate(sides, rounds);
  }
  EXPECT_GT(runs, 4u);
}

TEST(Alike, NamesTheFirstElementThatDiffers) {
  const std::vector<float> ours = {1, 2, 3}, peers = {1, 2.5F, 4};
  EXPECT_NO_THROW(nvdla::bench::expect_alike(ours, peers, 1));
  EXPECT_NO_THROW(nvdla::bench::expect_alike(ours, peers, 0, 0.25));
  try {
    nvdla::bench::expect_alike(ours, peers, 0.5);
    FAIL() << "elements that differ are alike";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "element 2 is 3.000000, the peer's 4.000000");
  }
}

TEST(Alike, NanAndMissingElementsDiffer) {
  const std::vector<float> numbers = {1, 2}, nan = {1, std::nanf("")}, few = {1};
  EXPECT_THROW(nvdla::bench::expect_alike(numbers, nan, 100, 100), std::runtime_error);
  EXPECT_THROW(nvdla::bench::expect_alike(nan, numbers, 100, 100), std::runtime_error);
  EXPECT_THROW(nvdla::bench::expect_alike(numbers, few, 100, 100), std::runtime_error);
}

}  // namespace
