// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>
#include <map>
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

rc::detail::TestParams parameters(unsigned count) {
  // Without it each run would have another seed. Nothing else runs while tests begin.
  setenv("RC_PARAMS", "seed=0", 0);
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (params.maxSuccess == rc::detail::TestParams().maxSuccess)
    params.maxSuccess = static_cast<int>(count);
  return params;
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

void for_all(unsigned count, const Property& property) {
  const auto testable = [&] {
    Random random = Random::of_property();
    return property(random);
  };
  const rc::detail::TestResult result =
      rc::detail::checkTestable(testable, name_of_property(), parameters(count));
  rc::detail::FailureResult failure;
  if (result.match(failure)) {
    // Without the numbers that were drawn, which say nothing without their names.
    ADD_FAILURE() << "after " << failure.numSuccess
                  << " layers that are right: " << failure.description;
  } else if (!result.is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    ADD_FAILURE() << text.str();
  }
}

void expect_for_all(unsigned count, const std::function<void(Random&)>& property) {
  for_all(count, Property([&](Random& random) {
            // What fails on the way to the simplest is no failure of the test.
            testing::TestPartResultArray results;
            {
              const testing::ScopedFakeTestPartResultReporter reporter(
                  testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD,
                  &results);
              property(random);
            }
            std::ostringstream text;
            for (int i = 0; i < results.size(); ++i)
              if (results.GetTestPartResult(i).failed()) text << results.GetTestPartResult(i);
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
