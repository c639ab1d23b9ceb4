// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/info.hpp"
#include "model/core/machine.hpp"
#include "tools/measure/fit.hpp"
#include "tools/measure/probes.hpp"
#include "tools/profile/layer_profile.hpp"

namespace nvdla::program {
namespace {

constexpr std::uint64_t kCycles = 2000;

// Returns the probes with the times that a memory is predicted to give them, each later by
// `overhead`.
std::vector<ProbeTime> times_with(const char* configuration, Memory which,
                                  const cost::MemoryTiming& memory, double overhead) {
  const DeviceInfo info = configuration_info(configuration);
  const nvdla_hw& hw = *detail::find_configuration(info);
  const cost::Machine machine = model::machine_of(hw);
  std::vector<ProbeTime> times;
  for (const Probe& probe : memory_probes(info, machine, which, kCycles)) {
    auto layers = predicted_layers(probe.desc(), hw);
    const double cycles =
        static_cast<double>(cost::sequence_cycles(machine, memory, layers).total) + overhead;
    times.push_back({probe.name, std::move(layers), cycles});
  }
  return times;
}

FittedMemory fit(const char* configuration, Memory which, const cost::MemoryTiming& known,
                 const std::vector<ProbeTime>& times) {
  const nvdla_hw& hw = *detail::find_configuration(configuration_info(configuration));
  return fit_memory(
      model::machine_of(hw),
      which == Memory::kSram ? cost::Interface::kSecondary : cost::Interface::kPrimary, known,
      times);
}

// A memory is found as what was set, or as one that makes no difference.
TEST(Measure, FindsTheMemoryThatWasSet) {
  for (const char* configuration : {"nv_full", "nv_large", "nv_small"}) {
    for (const unsigned latency : {1U, 20U, 50U, 200U, 1000U}) {
      for (const double bandwidth : {0.0, 30.0, 6.5, 2.0}) {
        const cost::MemoryTiming memory{
            .latency = latency, .write_latency = latency, .bandwidth = bandwidth};
        SCOPED_TRACE(fmt::format("{} latency {} bandwidth {}", configuration, latency, bandwidth));
        const auto found = fit(configuration, Memory::kDram, {},
                               times_with(configuration, Memory::kDram, memory, 0));
        EXPECT_NEAR(found.memory.latency, latency, 0.01 * latency + 1);
        EXPECT_LE(found.error, 0.005);
        EXPECT_EQ(found.memory.outstanding, 0U);
        if (found.memory.bandwidth != 0) {
          EXPECT_NEAR(found.memory.bandwidth, bandwidth, 0.005 * bandwidth);
        }
      }
    }
  }
}

TEST(Measure, FindsALimitOfRequests) {
  for (const char* configuration : {"nv_full", "nv_large", "nv_small"}) {
    for (const unsigned outstanding : {1U, 4U, 16U}) {
      const cost::MemoryTiming memory{
          .latency = 400, .write_latency = 400, .outstanding = outstanding};
      SCOPED_TRACE(fmt::format("{} outstanding {}", configuration, outstanding));
      const auto found = fit(configuration, Memory::kDram, {},
                             times_with(configuration, Memory::kDram, memory, 0));
      EXPECT_NEAR(found.memory.latency, 400, 4);
      EXPECT_EQ(found.memory.outstanding, outstanding);
      EXPECT_EQ(found.memory.bandwidth, 0);
    }
  }
}

TEST(Measure, FindsBothLimits) {
  const cost::MemoryTiming memory{
      .latency = 400, .write_latency = 400, .outstanding = 16, .bandwidth = 3};
  const auto times = times_with("nv_full", Memory::kDram, memory, 0);
  const auto found = fit("nv_full", Memory::kDram, {}, times);
  EXPECT_LE(found.error, 0.005);
  EXPECT_NEAR(found.memory.latency, 400, 4);
}

// A driver that starts a program and sees its end takes time that is no latency of memory.
TEST(Measure, TellsLatencyFromTheStartOfAProgram) {
  const cost::MemoryTiming memory{.latency = 70, .write_latency = 70, .bandwidth = 10};
  const auto found =
      fit("nv_full", Memory::kDram, {}, times_with("nv_full", Memory::kDram, memory, 5000));
  EXPECT_NEAR(found.memory.latency, 70, 2);
  EXPECT_NEAR(found.memory.bandwidth, 10, 0.1);
  EXPECT_NEAR(found.overhead, 5000, 50);
}

TEST(Measure, FindsSecondaryMemoryBesidePrimary) {
  cost::MemoryTiming memory{.latency = 50, .write_latency = 50, .bandwidth = 10};
  const cost::MemoryTiming known = memory;
  memory.sram_latency = 8;
  memory.sram_bandwidth = 25;
  const auto found =
      fit("nv_full", Memory::kSram, known, times_with("nv_full", Memory::kSram, memory, 0));
  EXPECT_EQ(found.memory.latency, 50U);
  EXPECT_EQ(found.memory.bandwidth, 10);
  EXPECT_NEAR(found.memory.sram_latency, 8, 1);
  EXPECT_NEAR(found.memory.sram_bandwidth, 25, 0.2);
}

// Times that no memory gives are not explained away.
TEST(Measure, TellsWhatItCannotExplain) {
  auto times = times_with("nv_full", Memory::kDram, {}, 0);
  times.back().cycles *= 30;
  times.front().cycles *= 3;
  EXPECT_GT(fit("nv_full", Memory::kDram, {}, times).error, 0.1);
}

}  // namespace
}  // namespace nvdla::program
