// SPDX-License-Identifier: MIT
//
// Is the device as fast as its bound says, more or less?
#include <fmt/format.h>

#include <algorithm>

#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

constexpr std::uint32_t kSide = 64;
constexpr unsigned kRuns = 3;
// A bus that is slower than the bound by this much is broken rather than busy.
constexpr std::uint64_t kTooSlow = 64;
// The time within which an interrupt should be noticed.
constexpr std::uint64_t kLatencyNs = 10'000'000;

}  // namespace

Result check_timing(Bench& bench) {
  const nvdla_hw& hw = bench.hw;
  Work work;
  work.what = "a copy";
  work.layers.push_back(copy_layer(hw, kSide, kSide, hw.atom));
  const std::size_t bytes = std::size_t{kSide} * kSide * hw.atom;
  work.regions = {{noise(bytes, 3)}, {Bytes(bytes, kPoison), true}};
  const auto load = bench.runner.load(work);

  std::uint64_t best = UINT64_MAX;
  for (unsigned i = 0; i < kRuns; ++i) {
    const Ran ran = load->run();
    if (ran.end != End::kDone)
      return Result::failed(
          {fmt::format("a copy of {} bytes: {}", bytes, ran.text),
           "it ends",
           {"clock or bus: the device is far slower than its bound", cause::kUnitClock}});
    best = std::min<std::uint64_t>(best, ran.stats.front().end_ns - ran.stats.front().start_ns);
  }
  const std::uint64_t khz = bench.clock_khz != 0 ? bench.clock_khz : 1'000'000;
  const std::uint64_t bound = load->cycles() * 1'000'000 / khz;
  const std::string text = fmt::format(
      "{} bytes in {} us, {} us being the bound at {:g} MHz{}", bytes, best / 1000, bound / 1000,
      static_cast<double>(khz) / 1000, bench.clock_khz != 0 ? "" : ", as nobody named its clock");
  if (best > std::max(bound * kTooSlow, kLatencyNs)) {
    return Result::failed({text,
                           fmt::format("at most {} times the bound", kTooSlow),
                           {"clock or bus: the core's clock is slower than named, the memory bus "
                            "is starved, or interrupts are found by polling only"}});
  }
  return Result::passed(text);
}

}  // namespace nvdla::selftest
