// SPDX-License-Identifier: MIT
//
// `for_all` draws as many layers as it promises, the same ones for a seed, and reports the simplest
// that fails.
#include "common/property.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::test {
namespace {

// The numbers of layers, and what `for_all` returns.
struct Drawn {
  std::vector<std::int64_t> numbers;
  unsigned layers = 0;
};

Drawn draw(unsigned count, std::uint64_t seed) {
  Drawn drawn;
  drawn.layers = for_all(
      count,
      [&](Random& random) {
        drawn.numbers.push_back(pick(random, -5, 1000));
        drawn.numbers.push_back(static_cast<std::int64_t>(random()));
        return std::string();
      },
      seed);
  return drawn;
}

// A run draws fewer layers than it could.
const unsigned kDivisor = std::getenv("NVDLA_LAYERS") != nullptr || NVDLA_TEST_SHARE > 1 ? 1 : 4;
// RC_PARAMS gives the seed of all layers.
const bool kIsOneSeed = std::getenv("RC_PARAMS") != nullptr;

TEST(PropertyOfLayers, DrawsTheSameForTheSameSeed) {
  const Drawn drawn = draw(180, 7);
  EXPECT_EQ(drawn.numbers.size(), 2 * drawn.layers);
  EXPECT_EQ(draw(180, 7).numbers, drawn.numbers);
}

TEST(PropertyOfLayers, DrawsHalfAsManyOfTheSeedAsThatAreFixed) {
  const Drawn one = draw(180 * kDivisor, 7), other = draw(180 * kDivisor, 8);
  if (kIsOneSeed) {
    EXPECT_EQ(one.numbers, other.numbers);
    return;
  }
  EXPECT_EQ(one.layers, 60U + 30U);
  const auto differ = std::mismatch(one.numbers.begin(), one.numbers.end(), other.numbers.begin());
  EXPECT_EQ(differ.first - one.numbers.begin(), 2 * 60);
}

TEST(PropertyOfLayers, NamesTheSeedOfALayerThatIsNew) {
  if (kIsOneSeed) return;
  unsigned layers = 0;
  const auto property = [&](Random&) { return std::string(++layers > 60 ? "wrong" : ""); };
  EXPECT_NONFATAL_FAILURE(for_all(180 * kDivisor, property, 7),
                          "after 0 layers that are right with NVDLA_SEED=7: wrong");
}

TEST(PropertyOfLayers, KeepsToTheRange) {
  std::vector<bool> seen(6);
  for_all(500 * kDivisor, [&](Random& random) {
    const std::int64_t number = pick(random, -2, 3);
    if (number < -2 || number > 3) return std::to_string(number);
    seen[static_cast<std::size_t>(number + 2)] = true;
    return std::string();
  });
  EXPECT_EQ(seen, std::vector<bool>(6, true));
}

TEST(PropertyOfLayers, TellsOfTheSimplestThatFails) {
  const Property property = [](Random& random) {
    const std::int64_t width = pick(random, 1, 900), shift = pick(random, -100, 100);
    const bool rare = one_in(random, 7), common = !one_in(random, 7);
    Random data = random.fork();
    for (unsigned i = 0; i < 1000; ++i) data();
    if (width < 123 || shift > -9) return std::string();
    return std::to_string(width) + " " + std::to_string(shift) + (rare ? " rare" : "") +
           (common ? " common" : "");
  };
  EXPECT_NONFATAL_FAILURE(for_all(500, property), "right: 123 -9 common");
}

TEST(PropertyOfLayers, TakesAssertions) {
  const auto property = [](Random& random) {
    const std::int64_t width = pick(random, 0, 1000);
    ASSERT_LT(width, 77) << "this wide";
  };
  EXPECT_NONFATAL_FAILURE(expect_for_all(200, property), "actual: 77 vs 77\nthis wide");
}

TEST(PropertyOfLayers, DrawsAnotherForWhatIsLeftOut) {
  std::size_t kept = 0;
  const unsigned drawn = for_all(200 * kDivisor, [&](Random& random) {
    if (pick(random, 0, 3) == 0) discard();
    ++kept;
    return std::string();
  });
  EXPECT_EQ(kept, kIsOneSeed ? drawn : 66U + 34U);
  EXPECT_EQ(drawn, kept);
}

TEST(PropertyOfLayers, TellsOfExceptions) {
  EXPECT_NONFATAL_FAILURE(
      for_all(1, [](Random&) -> std::string { throw std::runtime_error("no such layer"); }),
      "no such layer");
}

}  // namespace
}  // namespace nvdla::test
