// SPDX-License-Identifier: MIT
#include "common/emulated/tiles.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nvdla::test {
namespace {

[[noreturn]] void fault(const char* instruction, const char* why) {
  std::fprintf(stderr, "%s: %s\n", instruction, why);
  std::abort();
}

int extend(std::uint8_t byte, bool with_sign) {
  return with_sign ? static_cast<std::int8_t>(byte) : int{byte};
}

}  // namespace

Tiles& Tiles::here() {
  static thread_local Tiles tiles;
  return tiles;
}

// Byte 0 is the palette, 1 the row to go on with, from 16 on bytes of a row in 16 bits, from 48 on
// rows; the rest is zero.
void Tiles::configure(const void* config) {
  constexpr const char* kName = "ldtilecfg";
  std::uint8_t bytes[64];
  std::memcpy(bytes, config, sizeof(bytes));
  *this = {};
  if (bytes[0] > 1) fault(kName, "no such palette");
  if (bytes[0] == 0) return;
  if (bytes[1] != 0) fault(kName, "a row to go on with, which nothing here asks for");
  for (unsigned i = 2; i < 16; ++i)
    if (bytes[i] != 0) fault(kName, "reserved bytes are not zero");
  for (unsigned i = 0; i < 16; ++i) {
    std::uint16_t row_bytes;
    std::memcpy(&row_bytes, bytes + 16 + std::size_t{i} * 2, sizeof(row_bytes));
    const unsigned rows = bytes[48 + i];
    if ((rows == 0) != (row_bytes == 0)) fault(kName, "rows without bytes, or bytes without rows");
    if (rows > kRows || row_bytes > kRowBytes) fault(kName, "larger than the palette's tiles");
    if (rows == 0) continue;
    if (i >= kTiles) fault(kName, "more tiles than the palette has");
    tiles_[i].rows = rows;
    tiles_[i].row_bytes = row_bytes;
  }
  palette_ = bytes[0];
}

const Tiles::Tile& Tiles::usable(unsigned tile, const char* instruction) const {
  if (!configured()) fault(instruction, "tiles are not configured");
  if (tile >= kTiles) fault(instruction, "no such tile");
  if (tiles_[tile].rows == 0) fault(instruction, "this tile is not configured");
  return tiles_[tile];
}

void Tiles::zero(unsigned tile) {
  usable(tile, "tilezero");
  std::memset(tiles_[tile].bytes, 0, sizeof(tiles_[tile].bytes));
}

void Tiles::load(unsigned tile, const void* from, std::ptrdiff_t stride) {
  zero(tile);
  const auto* row = static_cast<const std::uint8_t*>(from);
  for (unsigned i = 0; i < tiles_[tile].rows; ++i)
    std::memcpy(tiles_[tile].bytes[i], row + i * stride, tiles_[tile].row_bytes);
}

void Tiles::store(unsigned tile, void* to, std::ptrdiff_t stride) const {
  const Tile& from = usable(tile, "tilestored");
  auto* row = static_cast<std::uint8_t*>(to);
  for (unsigned i = 0; i < from.rows; ++i)
    std::memcpy(row + i * stride, from.bytes[i], from.row_bytes);
}

void Tiles::dot(unsigned sums, unsigned data, unsigned weights, Signs with_sign) {
  constexpr const char* kName = "tdpb..d";
  if (sums == data || data == weights || weights == sums) fault(kName, "a tile is named twice");
  usable(sums, kName);
  Tile& c = tiles_[sums];
  const Tile &a = usable(data, kName), &b = usable(weights, kName);
  if ((a.row_bytes | b.row_bytes | c.row_bytes) % 4 != 0)
    fault(kName, "rows are not of whole double words");
  if (c.rows != a.rows || c.row_bytes != b.row_bytes || a.row_bytes / 4 != b.rows)
    fault(kName, "tiles do not fit each other");
  for (unsigned m = 0; m < c.rows; ++m)
    for (unsigned n = 0; n < c.row_bytes / 4; ++n) {
      std::uint32_t sum;  // modulo 2^32
      std::memcpy(&sum, c.bytes[m] + std::size_t{n} * 4, sizeof(sum));
      for (unsigned k = 0; k < a.row_bytes / 4; ++k)
        for (unsigned i = 0; i < 4; ++i)
          sum += static_cast<std::uint32_t>(extend(a.bytes[m][k * 4 + i], with_sign.data) *
                                            extend(b.bytes[k][n * 4 + i], with_sign.weights));
      std::memcpy(c.bytes[m] + std::size_t{n} * 4, &sum, sizeof(sum));
    }
}

}  // namespace nvdla::test
