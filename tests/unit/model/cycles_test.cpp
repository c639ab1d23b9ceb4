// SPDX-License-Identifier: MIT
//
// Predicted cycles: against those that were measured on the published logic, and by the rules of
// its units on layers made by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/shared.hpp"
#include "measured_cycles.hpp"

namespace nvdla::test {
namespace {

using cost::LayerCycles;

double error_of(const MeasuredLayer& layer, std::uint64_t predicted) {
  return static_cast<double>(predicted) / static_cast<double>(layer.cycles) - 1;
}

// Nineteen of twenty rows within a tenth; the table says which ones are not.
TEST(MeasuredCycles, ArePredictedWithinATenth) {
  NVDLA_NEEDS_SHARED("hw/cycles.csv");
  const auto layers = read_measured(shared_folder() / "hw/cycles.csv");
  ASSERT_FALSE(layers.empty());
  std::size_t close = 0;
  fmt::print("{:<9} {:<38} {:>4} {:>3} {:>5} {:>9} {:>9} {:>7}\n", "", "layer", "lat", "os", "gaps",
             "measured", "predicted", "error");
  for (const MeasuredLayer& layer : layers) {
    const LayerCycles predicted = predict(layer);
    const double error = error_of(layer, predicted.total);
    const bool within = std::abs(error) <= 0.1;
    close += within;
    fmt::print("{:<9} {:<38} {:>4} {:>3} {:>3}/{} {:>9} {:>9} {:>6.1f}%{}\n", layer.configuration,
               layer.trace, layer.memory.latency, layer.memory.outstanding,
               layer.memory.request_gap, layer.memory.beat_gap, layer.cycles, predicted.total,
               error * 100, within ? "" : " <");
  }
  fmt::print("{} of {} rows within 10 %\n", close, layers.size());
  EXPECT_GE(close * 20, layers.size() * 19);
}

}  // namespace
}  // namespace nvdla::test
