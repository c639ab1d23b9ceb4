// SPDX-License-Identifier: MIT
//
// Cuts positions into register tiles, included by each instruction set's translation
// units into an unnamed namespace.

// Calls parts[count - 1](tile, first) for `count` positions from the `first` on, as equal as it
// goes.
template <typename Tile, unsigned kMost>
static void in_parts(const Tile& tile, unsigned positions,
                     void (*const (&parts)[kMost])(const Tile&, unsigned)) {
  for (unsigned first = 0, left = (positions + kMost - 1) / kMost; left != 0; --left) {
    const unsigned count = (positions - first + left - 1) / left;
    parts[count - 1](tile, first);
    first += count;
  }
}
