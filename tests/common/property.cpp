// SPDX-License-Identifier: MIT
#include "common/property.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <sstream>

namespace nvdla::test {
namespace {

// rapidcheck's own generators of numbers grow with the size that it gives to a case. Layers do not:
// each has all sizes from the start.
template <typename T, typename Make>
T one(T simplest, Make make) {
  return *rc::Gen<T>([=](const rc::Random& random, int) {
    return rc::shrinkable::shrinkRecur(make(rc::Random(random).next()), [=](const T& value) {
      return rc::shrink::towards<T>(value, simplest);
    });
  });
}

// Fewer layers than these show little, even where a sanitizer makes each one slow.
constexpr unsigned kMinLayers = 5;
// Nor do fewer than these, where a test asks for so many, of those that are the same in each run:
// some tests count what they met.
constexpr unsigned kMinFixed = 20;
// A property gives up behind ten cases left out for each layer, but behind no fewer than these: a
// few layers may come late by chance.
constexpr int kMinDiscards = 1000;

// Is what to draw left to `for_all`? Nothing else runs while tests begin.
bool is_own_choice() {
  static const bool own = [] {
    const bool given = std::getenv("RC_PARAMS") != nullptr;
    // Without it rapidcheck would draw a seed.
    setenv("RC_PARAMS", "seed=0", 0);
    return !given;
  }();
  return own;
}

// A run draws one layer in so many of those that a property asks for, all of them with
// NVDLA_LAYERS=all. Where a sanitizer makes each layer slow, the tests themselves ask for fewer.
unsigned divisor_of_run() {
  static const unsigned divisor = [] {
    const char* given = std::getenv("NVDLA_LAYERS");
    if (given != nullptr && std::strcmp(given, "all") != 0) {
      std::fprintf(stderr, "NVDLA_LAYERS is '%s'; it must be 'all', or not set\n", given);
      std::exit(2);
    }
    return given != nullptr || NVDLA_TEST_SHARE > 1 ? 1U : 4U;
  }();
  return divisor;
}

std::uint64_t seed_of_run() {
  static const std::uint64_t seed = [] {
    std::uint64_t value = std::random_device()();
    if (const char* given = std::getenv("NVDLA_SEED")) {
      const char* end = given + std::strlen(given);
      if (given == end || std::from_chars(given, end, value).ptr != end) {
        std::fprintf(stderr, "NVDLA_SEED is '%s'; it must be a number from 0 to 2^64 - 1\n", given);
        std::exit(2);
      }
    }
    std::printf("NVDLA_SEED=%" PRIu64 " draws the random layers that are new in this run\n", value);
    return value;
  }();
  return seed;
}

// rapidcheck finds a failure of before by this name.
rc::detail::TestMetadata name_of_property() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test.test_suite_name()) + "." + test.name();
  static std::map<std::string, unsigned> properties;
  const std::string id = name + "/" + std::to_string(properties[name]++);
  return {id, id};
}

}  // namespace

std::uint64_t Random::draw_word() {
  return one<std::uint64_t>(0, [](std::uint64_t word) { return word; });
}

std::int64_t Random::draw(std::int64_t low, std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high - low) + 1;
  return one<std::int64_t>(std::clamp<std::int64_t>(0, low, high), [=](std::uint64_t word) {
    return low + static_cast<std::int64_t>(word % span);
  });
}

namespace {

struct Checked {
  bool passed = false;
  unsigned drawn = 0;
};

// Holds `property` against layers of one seed. `from` is what a failure says about the seed.
Checked check(const Property& property, const rc::detail::TestMetadata& name,
              const rc::detail::TestParams& params, const std::string& from) {
  Checked checked;
  const auto testable = [&] {
    Random random = Random::of_property();
    const std::string wrong = property(random);
    ++checked.drawn;
    return wrong;
  };
  const rc::detail::TestResult result = rc::detail::checkTestable(testable, name, params);
  rc::detail::FailureResult failure;
  checked.passed = result.is<rc::detail::SuccessResult>();
  if (result.match(failure)) {
    // Without the numbers that were drawn, which say nothing without their names.
    ADD_FAILURE() << "after " << failure.numSuccess << " layers that are right" << from << ": "
                  << failure.description;
  } else if (!checked.passed) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    ADD_FAILURE() << text.str() << from;
  }
  return checked;
}

}  // namespace

unsigned for_all(unsigned count, const Property& property) {
  return for_all(count, property, seed_of_run());
}

unsigned for_all(unsigned count, const Property& property, std::uint64_t seed) {
  const bool own_choice = is_own_choice();
  const rc::detail::TestMetadata name = name_of_property();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  const bool has_count = params.maxSuccess != rc::detail::TestParams().maxSuccess;
  const auto draw = [&](unsigned layers, const std::string& from) {
    if (!has_count) {
      params.maxSuccess = static_cast<int>(layers);
      params.maxDiscardRatio = std::max(10, kMinDiscards / params.maxSuccess);
    }
    return check(property, name, params, from);
  };
  if (!own_choice) return draw(count, "").drawn;
  const unsigned all_fixed = std::min(count, std::max(count / 3, kMinLayers));
  const unsigned all_of_seed = (count + 5) / 6;
  const unsigned divisor = divisor_of_run();
  const Checked fixed = draw(std::min(all_fixed, std::max(count / (3 * divisor), kMinFixed)), "");
  if (!fixed.passed) return fixed.drawn;
  params.seed = seed;
  const unsigned of_seed =
      std::min(all_of_seed, std::max((count + 6 * divisor - 1) / (6 * divisor), kMinFixed / 2));
  return fixed.drawn + draw(of_seed, " with NVDLA_SEED=" + std::to_string(seed)).drawn;
}

unsigned expect_for_all(unsigned count, const std::function<void(Random&)>& property) {
  return for_all(count, Property([&](Random& random) {
                   // A failure on the way to the simplest layer is none of the test.
                   testing::TestPartResultArray results;
                   {
                     const testing::ScopedFakeTestPartResultReporter reporter(
                         testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD,
                         &results);
                     property(random);
                   }
                   std::ostringstream text;
                   for (int i = 0; i < results.size(); ++i)
                     if (results.GetTestPartResult(i).failed())
                       text << results.GetTestPartResult(i);
                   return text.str();
                 }));
}

std::string numbers(std::initializer_list<std::int64_t> values) {
  std::string text;
  for (const std::int64_t value : values) text += " " + std::to_string(value);
  return text;
}

void discard() { RC_DISCARD("these numbers do not go together"); }

}  // namespace nvdla::test
