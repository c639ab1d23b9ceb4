// SPDX-License-Identifier: MIT
//
// From positions to rows of tiles, included by AMX's translation units into an unnamed namespace,
// with
// amx_tiles.hpp.
//
// A tile loads sixteen rows that lie equally far apart. Positions do so along a line, and often
// from line to line, with places between them that are none: a window is sixteen such rows, of
// which some are wanted. Where windows would have too few of these, rows are gathered first.

// Positions that are planned together, the windows that are worth it, and steps that are gathered
// at a time.
constexpr unsigned kGroup = 4 * kTileRows;
constexpr unsigned kGathered = 8;

struct Window {
  unsigned first, count;    // positions
  bool gathered;            // the rows are the positions
  ptrdiff_t at, stride;     // of the first row, else
  uint8_t rows[kTileRows];  // of the positions
};

// Gathering a row costs about half of what multiplying it does.
constexpr unsigned worthwhile(unsigned gathered) { return gathered * 13 / 8; }
constexpr unsigned kMostWindows = worthwhile(kGroup / kTileRows);

// The next window from a position on, of those that begin `at` these bytes; they are in order and
// the least distance of two neighbours is `step`. No row lies before the first position or behind
// the last.
static Window next_window(const ptrdiff_t* at, unsigned count, unsigned first, ptrdiff_t step) {
  Window window{first, 1, false, at[first], step, {}};
  ptrdiff_t row = 0;
  for (unsigned i = first + 1; i < count; ++i) {
    const ptrdiff_t distance = at[i] - at[i - 1];
    if (distance == step) {
      ++row;
    } else {
      if (distance % step != 0) break;
      row += distance / step;
    }
    if (row >= static_cast<ptrdiff_t>(kTileRows)) break;
    window.rows[window.count++] = static_cast<uint8_t>(row);
  }
  const ptrdiff_t beyond = window.at + step * (kTileRows - 1) - at[count - 1];
  if (beyond <= 0) return window;
  const ptrdiff_t back = (beyond + step - 1) / step;
  window.at -= back * step;
  window.gathered = window.at < at[0];
  for (unsigned i = 0; i < window.count; ++i)
    window.rows[i] = static_cast<uint8_t>(window.gathered ? i : window.rows[i] + back);
  return window;
}

// Returns how many.
static unsigned plan_windows(const ptrdiff_t* at, unsigned count, Window* windows) {
  if (count == 1) {
    // All rows are the same one.
    windows[0] = {0, 1, false, at[0], 0, {}};
    return 1;
  }
  ptrdiff_t step = at[1] - at[0];
  for (unsigned i = 2; i < count; ++i) step = at[i] - at[i - 1] < step ? at[i] - at[i - 1] : step;
  const unsigned gathered = (count + kTileRows - 1) / kTileRows;
  if (step > 0) {
    unsigned planned = 0;
    for (unsigned first = 0; first < count; first += windows[planned++].count) {
      if (planned == worthwhile(gathered)) break;
      windows[planned] = next_window(at, count, first, step);
    }
    const Window& last = windows[planned - 1];
    if (last.first + last.count == count) return planned;
  }
  for (unsigned i = 0; i < gathered; ++i) {
    const unsigned first = i * kTileRows;
    windows[i] = {first, count - first < kTileRows ? count - first : kTileRows, true, 0, 0, {}};
    for (unsigned row = 0; row < windows[i].count; ++row)
      windows[i].rows[row] = static_cast<uint8_t>(row);
  }
  return gathered;
}

// Where the rows of a window are for some steps of a run.
struct Rows {
  const uint8_t* from;
  ptrdiff_t stride, step;
};
struct alignas(64) Panel {
  uint8_t rows[kGathered][kTileRows][kRowBytes];
};

// `data` is what `at` counts from, the run and the first of the steps included.
[[maybe_unused]] static Rows find_rows(const Window& window, const ptrdiff_t* at,
                                       const uint8_t* data, unsigned steps, Panel& panel) {
  if (!window.gathered) return {data + window.at, window.stride, kRowBytes};
  for (unsigned row = 0; row < kTileRows; ++row) {
    // Rows that are none are multiplied, too.
    const unsigned position = row < window.count ? row : window.count - 1;
    const uint8_t* from = data + at[window.first + position];
    for (unsigned step = 0; step < steps; ++step, from += kRowBytes)
      __builtin_memcpy(panel.rows[step][row], from, kRowBytes);
  }
  return {panel.rows[0][0], kRowBytes, kTileRows * kRowBytes};
}

// Whether all of a window's rows may go where those of its positions do: later windows put what
// they are in the place of those that are none.
[[maybe_unused]] static bool in_place(const Window& window, unsigned count) {
  return window.rows[0] == 0 && window.rows[window.count - 1] == window.count - 1 &&
         window.first + kTileRows <= count;
}
