// SPDX-License-Identifier: MIT
#include "compare/alternate.hpp"

#include <benchmark/benchmark.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace nvdla::bench {
namespace {

// What is quicker is run several times for one reading of the clock, which takes half a
// microsecond.
constexpr double kShortest = 100e-6;
constexpr unsigned kMostRepeats = 10000;

double read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Reads more than all caches hold.
class Sweeper {
 public:
  Sweeper() : lines_(size() / sizeof(Line)) {}

  void sweep() {
    std::uint64_t sum = 0;
    for (const Line& line : lines_) sum += line.value;
    benchmark::DoNotOptimize(sum);
  }

 private:
  struct alignas(64) Line {
    std::uint64_t value = 0;
  };

  static std::size_t size() {
    constexpr std::size_t kLeast = std::size_t{16} << 20, kMost = std::size_t{256} << 20;
    std::size_t largest = 0;
    for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
      largest = std::max(largest, static_cast<std::size_t>(std::max(sysconf(level), 0L)));
    return std::clamp(largest + largest / 4, kLeast, kMost);
  }

  std::vector<Line> lines_;
};

Sweeper& sweeper() {
  static Sweeper sweeper;
  return sweeper;
}

}  // namespace

std::vector<Timing> alternate(std::span<const Side> sides, const Rounds& rounds) {
  const clockid_t clock = rounds.wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
  // First runs pack weights and fill caches.
  for (const Side& side : sides) side.run();
  std::vector<unsigned> repeats(sides.size(), 1);
  for (std::size_t i = 0; i < sides.size() && !rounds.cold; ++i) {
    const double start = read(clock);
    sides[i].run();
    const double time = std::max(read(clock) - start, kShortest / kMostRepeats);
    repeats[i] = static_cast<unsigned>(std::ceil(kShortest / time));
  }

  std::vector<std::vector<double>> times(sides.size()), ratios(sides.size());
  const double begin = read(CLOCK_MONOTONIC);
  for (unsigned round = 0; round < rounds.most; ++round) {
    if (round >= rounds.least && read(CLOCK_MONOTONIC) - begin > rounds.seconds) break;
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      // Back and forth, so that nobody always follows the same one.
      const std::size_t i = round % 2 == 0 ? turn : sides.size() - 1 - turn;
      if (rounds.cold)
        sweeper().sweep();
      else
        sides[i].run();
      const double start = read(clock);
      for (unsigned repeat = 0; repeat < repeats[i]; ++repeat) sides[i].run();
      times[i].push_back((read(clock) - start) / repeats[i]);
    }
    for (std::size_t i = 0; i < sides.size(); ++i)
      ratios[i].push_back(times[i].back() / times[0].back());
  }
  std::vector<Timing> result;
  for (std::size_t i = 0; i < sides.size(); ++i)
    result.push_back({median(std::move(times[i])), median(std::move(ratios[i]))});
  return result;
}

}  // namespace nvdla::bench
