// SPDX-License-Identifier: MIT
//
// What holds random layers against their properties: that it draws as many as asked for, the same
// ones each time, and tells of the simplest that fails.
#include "support/property.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::test {
namespace {

std::vector<std::int64_t> drawn(unsigned count) {
  std::vector<std::int64_t> numbers;
  for_all(count, [&](Random& random) {
    numbers.push_back(pick(random, -5, 1000));
    numbers.push_back(static_cast<std::int64_t>(random()));
    return std::string();
  });
  return numbers;
}

// Of 200, unless RC_PARAMS asks for another number of them.
std::size_t cases() {
  const char* given = std::getenv("RC_PARAMS");
  if (given == nullptr || std::string_view(given).find("max_success") == std::string_view::npos)
    return 200;
  std::size_t number = 0;
  for_all(200, [&](Random&) {
    ++number;
    return std::string();
  });
  return number;
}

TEST(PropertyOfLayers, DrawsTheSameEachTime) {
  const auto numbers = drawn(200);
  EXPECT_EQ(numbers.size(), 2 * cases());
  EXPECT_EQ(drawn(200), numbers);
}

TEST(PropertyOfLayers, KeepsToTheRange) {
  std::vector<bool> seen(6);
  for_all(500, [&](Random& random) {
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
  for_all(200, [&](Random& random) {
    if (pick(random, 0, 3) == 0) discard();
    ++kept;
    return std::string();
  });
  EXPECT_EQ(kept, cases());
}

TEST(PropertyOfLayers, TellsOfExceptions) {
  EXPECT_NONFATAL_FAILURE(
      for_all(1, [](Random&) -> std::string { throw std::runtime_error("no such layer"); }),
      "no such layer");
}

}  // namespace
}  // namespace nvdla::test
