// SPDX-License-Identifier: MIT
//
// AMX's tiles in plain C++, as the manual of the processors describes each instruction. What would
// be a fault ends the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::test {

class Tiles {
 public:
  static constexpr unsigned kTiles = 8, kRows = 16, kRowBytes = 64;

  // Those of the calling thread.
  static Tiles& here();

  bool configured() const noexcept { return palette_ != 0; }
  // 64 bytes.
  void configure(const void* config);
  void release() { *this = {}; }
  void zero(unsigned tile);
  void load(unsigned tile, const void* from, std::ptrdiff_t stride);
  void store(unsigned tile, void* to, std::ptrdiff_t stride) const;

  struct Signs {
    bool data, weights;
  };
  void dot(unsigned sums, unsigned data, unsigned weights, Signs with_sign);

 private:
  struct Tile {
    unsigned rows = 0, row_bytes = 0;
    std::uint8_t bytes[kRows][kRowBytes] = {};
  };
  const Tile& usable(unsigned tile, const char* instruction) const;

  unsigned palette_ = 0;
  Tile tiles_[kTiles];
};

}  // namespace nvdla::test
