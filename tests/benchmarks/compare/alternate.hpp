// SPDX-License-Identifier: MIT
//
// Times of things that do the same, taken in turns, so that whatever else the machine does meets
// all of them alike.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace nvdla::bench {

// One of those that are compared.
struct Side {
  std::string name;
  std::function<void()> run;
};

struct Rounds {
  double seconds = 0.25;  // as long as this, or
  unsigned least = 5;     // as often as this, and
  unsigned most = 1001;
  // Caches are swept before each run. Otherwise each side runs once untimed before it is timed.
  bool cold = false;
  // Time of the clock on the wall, not of the process on all processors: the one that two threads
  // shorten.
  bool wall = false;
};

struct Timing {
  double seconds = 0;  // median
  double ratio = 1;    // median of this side's time over that of the first in the same round
};

// One of each side. Every side runs at least once before the first time is taken.
std::vector<Timing> alternate(std::span<const Side> sides, const Rounds& rounds);

}  // namespace nvdla::bench
