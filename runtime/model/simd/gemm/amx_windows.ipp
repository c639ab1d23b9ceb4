// SPDX-License-Identifier: MIT
//
// From positions to rows of tiles, included by AMX's translation units into an unnamed namespace,
// behind amx_tiles.hpp.
//
// A tile loads sixteen rows that lie equally far apart. Positions do so along a line, and often
// from line to line, with places between them that are none: a window is sixteen such rows, of
// which some are wanted. Where windows would have too few of these, rows are gathered first.

// Positions that are planned together, and steps that are gathered at a time.
constexpr unsigned kGroup = kMostPositions;
constexpr unsigned kGathered = 8;

struct Window {
  unsigned first, count;  // positions
  // From the first position of the group on.
  union {
    ptrdiff_t at;               // of the first row
    ptrdiff_t each[kTileRows];  // of positions that are gathered
  };
  uint8_t rows[2 * kTileRows];  // of the positions; what is behind is nobody's
};

// Gathering a row costs about half of what multiplying it does.
constexpr unsigned worthwhile(unsigned gathered) { return gathered * 13 / 8; }

struct Windows {
  unsigned count;
  bool gathered;     // the rows are the positions
  ptrdiff_t stride;  // of rows, else
  Window all[worthwhile(kGroup / kTileRows)];
};

constexpr unsigned in_sixteens(unsigned count) { return (count + kTileRows - 1) / kTileRows; }

// Rows from a line to the next, or 0 where lines do not fit the step.
static unsigned rows_of(const TileLines& lines) {
  if (lines.step == 0 || lines.line % lines.step != 0) return 0;
  const size_t rows = lines.line / lines.step;
  return rows < lines.width || rows > UINT16_MAX ? 0 : static_cast<unsigned>(rows);
}

static TileLines lines_from(const TileLines& lines, unsigned first) {
  return {(lines.x + first) % lines.width, lines.width, lines.step, lines.line};
}
static size_t distance(const TileLines& lines, unsigned position) {
  const size_t x = lines.x + position;
  return x / lines.width * lines.line + x % lines.width * lines.step - lines.x * lines.step;
}

// Whether there are as few as is worthwhile. No row lies before the first position or behind the
// last.
static bool plan_rows(const TileLines& lines, unsigned count, unsigned most, Windows& windows) {
  unsigned gap = 0;
  if (lines.x + count > lines.width) {
    const unsigned rows = rows_of(lines);
    if (rows == 0) return false;
    gap = rows - lines.width;
  }
  windows.count = 0;
  windows.gathered = false;
  windows.stride = static_cast<ptrdiff_t>(lines.step);
  unsigned x = lines.x, position = 0, row = 0, last = 0;
  while (position < count) {
    if (windows.count == most) return false;
    Window& window = windows.all[windows.count++];
    window.first = position;
    window.at = static_cast<ptrdiff_t>(row);
    window.count = 0;
    for (unsigned i = 0; i < kTileRows && position < count;) {
      unsigned part = lines.width - x < count - position ? lines.width - x : count - position;
      part = part < kTileRows - i ? part : kTileRows - i;
      // A vector, whatever the part.
      for (unsigned k = 0; k < kTileRows; ++k)
        window.rows[window.count + k] = static_cast<uint8_t>(i + k);
      window.count += part;
      position += part;
      last = row + part - 1;
      x += part;
      i += part;
      row += part;
      if (x != lines.width) continue;
      x = 0;
      i += gap;
      row += gap;
    }
  }
  if (last + 1 < kTileRows) return false;
  for (unsigned i = 0; i < windows.count; ++i) {
    Window& window = windows.all[i];
    const auto beyond = window.at + ptrdiff_t{kTileRows} - 1 - static_cast<ptrdiff_t>(last);
    if (beyond > 0) {
      for (uint8_t& one : window.rows) one = static_cast<uint8_t>(one + beyond);
      window.at -= beyond;
    }
    window.at *= windows.stride;
  }
  return true;
}

static void plan_windows(const TileLines& lines, unsigned count, Windows& windows) {
  if (count == 1) {
    // All rows are the same one.
    windows.count = 1;
    windows.gathered = false;
    windows.stride = 0;
    windows.all[0].first = 0;
    windows.all[0].count = 1;
    windows.all[0].at = 0;
    windows.all[0].rows[0] = 0;
    return;
  }
  const unsigned gathered = in_sixteens(count);
  if (plan_rows(lines, count, worthwhile(gathered), windows)) return;
  windows.count = gathered;
  windows.gathered = true;
  for (unsigned i = 0; i < gathered; ++i) {
    Window& window = windows.all[i];
    window.first = i * kTileRows;
    window.count = count - window.first < kTileRows ? count - window.first : kTileRows;
    for (unsigned row = 0; row < kTileRows; ++row) {
      // Rows that are none are multiplied, too.
      const unsigned position = window.first + (row < window.count ? row : window.count - 1);
      window.each[row] = static_cast<ptrdiff_t>(distance(lines, position));
      window.rows[row] = static_cast<uint8_t>(row);
    }
  }
}

// Into how large tiles positions are cut, so that there are few windows. Larger ones need their
// weights less often.
[[maybe_unused]] static unsigned cut_positions(const TileLines& lines, unsigned count) {
  if (count <= kMostPositions) return count;
  const unsigned rows = rows_of(lines);
  const auto cost = [&](unsigned positions) {
    const unsigned gathered = in_sixteens(positions);
    const unsigned ends = positions % lines.width == 0
                              ? positions / lines.width - 1
                              : (positions + lines.width - 2) / lines.width;
    const unsigned windows =
        rows == 0 ? UINT16_MAX : in_sixteens(positions + ends * (rows - lines.width));
    // In halves.
    return windows <= worthwhile(gathered) ? 2 * windows : 3 * gathered;
  };
  unsigned best = 0, least = 0;
  for (unsigned positions = kMostPositions; positions > kMostPositions / 2; --positions) {
    const unsigned rest = count % positions;
    const unsigned all = count / positions * cost(positions) + (rest != 0 ? cost(rest) : 0);
    if (best != 0 && all >= least) continue;
    best = positions;
    least = all;
  }
  return best;
}

// Where the rows of a window are for some steps of a run.
struct Rows {
  const uint8_t* from;
  ptrdiff_t stride, step;
};
struct alignas(64) Panel {
  uint8_t rows[kGathered][kTileRows][kRowBytes];
};

// `data` is of the group's first position, the run and the first of the steps included.
[[maybe_unused]] static Rows find_rows(const Windows& windows, const Window& window,
                                       const uint8_t* data, unsigned steps, Panel& panel) {
  if (!windows.gathered) return {data + window.at, windows.stride, kRowBytes};
  for (unsigned row = 0; row < kTileRows; ++row) {
    const uint8_t* from = data + window.each[row];
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
