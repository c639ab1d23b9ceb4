// SPDX-License-Identifier: MIT
//
// Where the loops of WideTile have come to, included by the instruction sets' translation units
// into an unnamed namespace.

struct WidePlace {
  unsigned run = 0, step = 0;

  bool in(const WideTile& tile) const { return run < tile.run_count; }
  // Steps that lie together from here on, `room` at most.
  unsigned together(const WideTile& tile, unsigned room) const {
    return tile.steps - step < room ? tile.steps - step : room;
  }
  // By so many of these.
  void advance(const WideTile& tile, unsigned steps) {
    step += steps;
    if (step == tile.steps) {
      step = 0;
      ++run;
    }
  }
  // Counted over all runs.
  size_t steps_before(const WideTile& tile) const { return size_t{run} * tile.steps + step; }
};
