// SPDX-License-Identifier: MIT
//
// Winograd convolution: 4x4 tiles of the input, two positions apart, are transformed, multiplied
// with transformed weights position by position and channel by channel, and transformed back to 2x2
// results each.
#include <algorithm>
#include <array>
#include <cstring>

#include "model/cacc_half.hpp"
#include "model/conv_pass.hpp"
#include "model/float.hpp"

namespace nvdla::model {
namespace {

constexpr unsigned kTileSize = 4;
constexpr unsigned kPositions = kTileSize * kTileSize;
// Tiles that go through the loops together.
constexpr unsigned kResults = 2;

// B^T v.
template <typename Value, typename Add, typename Sub>
std::array<Value, kTileSize> transform(const std::array<Value, kTileSize>& v, Add add, Sub sub) {
  return {sub(v[0], v[2]), add(v[1], v[2]), sub(v[2], v[1]), sub(v[1], v[3])};
}

// B^T d B, columns first; `tile` is [y][x].
template <typename Value, typename Add, typename Sub>
void transform_tile(std::array<Value, kPositions>& tile, Add add, Sub sub) {
  for (unsigned x = 0; x < kTileSize; ++x) {
    const auto column =
        transform<Value>({tile[x], tile[x + 4], tile[x + 8], tile[x + 12]}, add, sub);
    for (unsigned y = 0; y < kTileSize; ++y) tile[y * kTileSize + x] = column[y];
  }
  for (unsigned y = 0; y < kTileSize; ++y) {
    Value* row = tile.data() + std::size_t{y} * kTileSize;
    const auto values = transform<Value>({row[0], row[1], row[2], row[3]}, add, sub);
    std::copy(values.begin(), values.end(), row);
  }
}

// A^T M A: [y][x] of the results.
std::array<std::int64_t, kResults * kResults> transform_back(const std::int64_t* m,
                                                             std::size_t pitch) {
  std::int64_t rows[kResults][kTileSize];
  for (unsigned x = 0; x < kTileSize; ++x) {
    const auto at = [&](unsigned y) { return m[(std::size_t{y} * kTileSize + x) * pitch]; };
    rows[0][x] = at(0) + at(1) + at(2);
    rows[1][x] = at(1) - at(2) - at(3);
  }
  std::array<std::int64_t, kResults * kResults> results;
  for (unsigned y = 0; y < kResults; ++y) {
    results[y * kResults] = rows[y][0] + rows[y][1] + rows[y][2];
    results[y * kResults + 1] = rows[y][1] - rows[y][2] - rows[y][3];
  }
  return results;
}

std::int16_t truncate(std::int32_t value, unsigned shift, Precision precision) {
  const std::int32_t half = shift == 0 ? 0 : 1 << (shift - 1);
  const std::int32_t rounded = value < 0 ? -((-value + half) >> shift) : (value + half) >> shift;
  return static_cast<std::int16_t>(precision == Precision::kInt8
                                       ? std::clamp(rounded, -128, 127)
                                       : std::clamp(rounded, -32768, 32767));
}

// The sixteen elements of a channel, from the line and the position where the tile begins.
template <typename Value, typename Read>
std::array<Value, kPositions> gather(const std::byte* first, std::size_t line, std::size_t pixel,
                                     Read read) {
  std::array<Value, kPositions> tile;
  for (unsigned y = 0; y < kTileSize; ++y)
    for (unsigned x = 0; x < kTileSize; ++x)
      tile[y * kTileSize + x] = read(first + y * line + x * pixel);
  return tile;
}

std::int32_t read_byte(const std::byte* from) { return static_cast<std::int8_t>(*from); }

std::int32_t read_word(const std::byte* from) {
  std::int16_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

void ConvPass::hand_over(const ConvLayer& layer, unsigned block, std::uint32_t line,
                         std::uint32_t lines, std::vector<std::int32_t>& values, SdpPass& sdp) {
  const std::uint32_t positions = lines * layer.out_width;
  for (std::uint32_t at = 0; at < positions; at += SdpPass::kPositions)
    sdp.tile(values.data() + std::size_t{at} * kBlock, block, line * layer.out_width + at,
             std::min<std::uint32_t>(SdpPass::kPositions, positions - at));
}

std::uint32_t ConvPass::run_winograd(const ConvLayer& layer, const ConvShape& shape,
                                     const PackedWeights& weights, SdpPass& sdp) {
  const std::uint32_t channels = shape.channels;
  const std::uint32_t tiles = layer.out_width / kResults;
  const std::size_t pixel = data_.pixel_bytes();
  const std::size_t line = data_.width() * pixel;
  const auto read = layer.proc == Precision::kInt8 ? read_byte : read_word;
  // A row of tiles, [tile][position][channel].
  const std::size_t tile_elements = std::size_t{kPositions} * channels;
  wide_data_.resize(std::max(wide_data_.size(), tiles * tile_elements));
  lines_.resize(std::size_t{kResults} * layer.out_width * kBlock);
  std::vector<std::int64_t> products(std::size_t{kPositions} * kTile * kBlock);
  CaccClip clip(layer, quirks_);
  const std::int32_t run = 0;
  for (std::uint32_t y = 0; y < layer.out_height; y += kResults) {
    for (std::uint32_t tile = 0; tile < tiles; ++tile)
      for (std::uint32_t c = 0; c < channels; ++c) {
        auto values = gather<std::int32_t>(
            data_.batch(0) + y * line + tile * kResults * pixel + c * shape.element_bytes, line,
            pixel, read);
        transform_tile(
            values, [](std::int32_t a, std::int32_t b) { return a + b; },
            [](std::int32_t a, std::int32_t b) { return a - b; });
        for (unsigned i = 0; i < kPositions; ++i)
          wide_data_[tile * tile_elements + std::size_t{i} * channels + c] =
              truncate(values[i], layer.pra_truncate, layer.proc);
      }
    for (unsigned block = 0; block < sdp.blocks(); ++block) {
      for (std::uint32_t first = 0; first < tiles; first += kTile) {
        const unsigned count = std::min(kTile, tiles - first);
        const std::int16_t* bases[kTile];
        for (unsigned position = 0; position < kPositions; ++position) {
          for (unsigned i = 0; i < count; ++i)
            bases[i] =
                wide_data_.data() + (first + i) * tile_elements + std::size_t{position} * channels;
          kernels_.wide({bases, count, &run, 1, channels,
                         weights.words.data() + block * shape.block_elements() +
                             std::size_t{position} * channels * kBlock,
                         products.data() + std::size_t{position} * kTile * kBlock});
        }
        for (unsigned i = 0; i < count; ++i)
          for (unsigned k = 0; k < kBlock; ++k) {
            const auto results =
                transform_back(products.data() + i * kBlock + k, std::size_t{kTile} * kBlock);
            for (unsigned j = 0; j < results.size(); ++j)
              lines_[(std::size_t{j / kResults} * layer.out_width + (first + i) * kResults +
                      j % kResults) *
                         kBlock +
                     k] = clip(results[j]);
          }
      }
      hand_over(layer, block, y, kResults, lines_, sdp);
    }
  }
  return clip.saturated();
}

void ConvPass::run_winograd_half(const ConvLayer& layer, const ConvShape& shape,
                                 const PackedWeights& weights, SdpPass& sdp) {
  constexpr unsigned kChannels = 4;
  const std::uint32_t steps = shape.channels / kChannels;
  const std::uint32_t tiles = layer.out_width / kResults;
  const std::size_t pixel = data_.pixel_bytes();
  const std::size_t line = data_.width() * pixel;
  const std::size_t tile_elements = std::size_t{steps} * kLanes;
  lanes_.resize(std::max(lanes_.size(), tiles * tile_elements));
  lines_.resize(std::size_t{kResults} * layer.out_width * kBlock);
  HalfProducts products;
  for (std::uint32_t y = 0; y < layer.out_height; y += kResults) {
    for (std::uint32_t tile = 0; tile < tiles; ++tile)
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        auto values = gather<std::uint32_t>(
            data_.batch(0) + y * line + tile * kResults * pixel + c * 2, line, pixel,
            [](const std::byte* from) {
              return fp::widen<fp::Fp17>(static_cast<std::uint16_t>(read_word(from)));
            });
        transform_tile(values, fp::add<fp::Fp17>, fp::sub<fp::Fp17>);
        for (unsigned i = 0; i < kPositions; ++i)
          lanes_[tile * tile_elements + std::size_t{c / kChannels} * kLanes + i * kChannels +
                 c % kChannels] = fp::narrow<fp::Fp17>(values[i]);
      }
    for (unsigned block = 0; block < sdp.blocks(); ++block) {
      const std::uint32_t kernels = std::min(kBlock, shape.kernels - block * kBlock);
      std::fill(lines_.begin(), lines_.end(), 0);
      for (std::uint32_t tile = 0; tile < tiles; ++tile)
        for (std::uint32_t k = 0; k < kernels; ++k) {
          std::array<HalfAccumulator, kResults * kResults> sums;
          const std::uint16_t* kernel =
              weights.half.data() + (std::size_t{block} * kBlock + k) * steps * kLanes;
          for (std::uint32_t step = 0; step < steps; ++step) {
            kernels_.half({lanes_.data() + tile * tile_elements + std::size_t{step} * kLanes,
                           kernel + std::size_t{step} * kLanes, kLanes},
                          products);
            if (products.nan != 0) {
              for (HalfAccumulator& sum : sums) sum.add_nan(products.nan);
              break;
            }
            std::int64_t positions[kPositions];
            for (unsigned i = 0; i < kPositions; ++i) {
              const std::int32_t* p = products.products + std::size_t{i} * kChannels;
              positions[i] = std::int64_t{p[0]} + p[1] + p[2] + p[3];
            }
            const auto results = transform_back(positions, 1);
            for (unsigned j = 0; j < results.size(); ++j)
              sums[j].add(results[j], products.exponent);
          }
          for (unsigned j = 0; j < sums.size(); ++j)
            lines_[(std::size_t{j / kResults} * layer.out_width + tile * kResults + j % kResults) *
                       kBlock +
                   k] = static_cast<std::int32_t>(sums[j].deliver());
        }
      hand_over(layer, block, y, kResults, lines_, sdp);
    }
  }
}

}  // namespace nvdla::model
