// SPDX-License-Identifier: MIT
//
// Winograd convolution: 4x4 tiles of the input, two positions apart, are transformed, multiplied
// with transformed weights position by position and channel by channel, and transformed back to 2x2
// results each.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "model/conv/cacc_half.hpp"
#include "model/conv/conv_pass.hpp"
#include "support/float.hpp"

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

// The sixteen elements of a channel, or of some, from the line and the position where the tile
// begins.
template <typename Value, typename Read>
std::array<Value, kPositions> gather(const std::byte* first, std::size_t line, std::size_t pixel,
                                     Read read) {
  std::array<Value, kPositions> tile;
  for (unsigned y = 0; y < kTileSize; ++y)
    for (unsigned x = 0; x < kTileSize; ++x)
      tile[y * kTileSize + x] = read(first + y * line + x * pixel);
  return tile;
}

std::int32_t read_word(const std::byte* from) {
  std::int16_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

// First all rows of tiles are transformed, then each row is multiplied with each block of kernels.
class ConvPass::WinogradRows : public ThreadPool::Work {
 public:
  WinogradRows(ConvPass& pass, const ConvLayer& layer, const ConvShape& shape,
               const PackedWeights& weights, SdpPass& sdp)
      : pass_(pass),
        layer_(layer),
        shape_(shape),
        weights_(weights),
        sdp_(sdp),
        rows_(layer.out_height / kResults),
        tiles_(layer.out_width / kResults),
        pixel_(pass.data_.pixel_bytes()),
        line_(pass.data_.width() * pixel_),
        values_(pass.winograd_.values) {}

  // `rate` is in products of a nanosecond.
  void run(double rate) {
    const double products = static_cast<double>(rows_) * tiles_ * shape_.channels * kPositions;
    transforms_ = true;
    pass_.pool_.run(*this, rows_, products * kTransform);
    transforms_ = false;
    const double whole = products * sdp_.blocks() * kBlock / rate;
    values_.resize(std::max(
        values_.size(), (pass_.pool_.shares(whole) ? pass_.pool_.in_flight() : 1) * slot_values()));
    pass_.pool_.run(*this, std::size_t{rows_} * sdp_.blocks(), whole);
  }

 protected:
  ~WinogradRows() = default;

  // Transforms the inputs of a row of tiles.
  virtual void transform_row(std::uint32_t row) noexcept = 0;
  // Multiplies a row of tiles into [line][x][kBlock].
  virtual void multiply(unsigned thread, unsigned block, std::uint32_t row,
                        std::int32_t* values) noexcept = 0;

  // Returns the first input of a tile.
  const std::byte* corner(std::uint32_t row, std::uint32_t tile) const noexcept {
    return pass_.data_.batch(0) + std::size_t{row} * kResults * line_ + tile * kResults * pixel_;
  }
  // Returns the place of a tile's result.
  std::size_t place(std::uint32_t tile, unsigned result) const noexcept {
    return (std::size_t{result / kResults} * layer_.out_width + tile * kResults +
            result % kResults) *
           kBlock;
  }

  ConvPass& pass_;
  const ConvLayer& layer_;
  const ConvShape& shape_;
  const PackedWeights& weights_;
  SdpPass& sdp_;
  const std::uint32_t rows_, tiles_;
  const std::size_t pixel_, line_;

 private:
  // Nanoseconds per element.
  static constexpr double kTransform = 1;

  std::size_t slot_values() const noexcept {
    return std::size_t{kResults} * layer_.out_width * kBlock;
  }
  void execute(unsigned thread, std::size_t task, std::size_t slot) noexcept final {
    if (transforms_) {
      transform_row(static_cast<std::uint32_t>(task));
    } else {
      multiply(thread, static_cast<unsigned>(task % sdp_.blocks()),
               static_cast<std::uint32_t>(task / sdp_.blocks()),
               values_.data() + slot * slot_values());
    }
  }
  void retire(std::size_t task, std::size_t slot) final {
    if (transforms_) return;
    const auto row = static_cast<std::uint32_t>(task / sdp_.blocks());
    std::int32_t* const values = values_.data() + slot * slot_values();
    const std::uint32_t positions = kResults * layer_.out_width;
    for (std::uint32_t at = 0; at < positions; at += SdpPass::kPositions)
      sdp_.tile(values + std::size_t{at} * kBlock, static_cast<unsigned>(task % sdp_.blocks()),
                row * positions + at, std::min<std::uint32_t>(SdpPass::kPositions, positions - at));
  }

  bool transforms_ = false;
  std::vector<std::int32_t>& values_;
};

class ConvPass::WinogradIntegers final : public WinogradRows {
 public:
  WinogradIntegers(ConvPass& pass, const ConvLayer& layer, const ConvShape& shape,
                   const PackedWeights& weights, SdpPass& sdp)
      : WinogradRows(pass, layer, shape, weights, sdp),
        clip_(wide_clip(layer, pass.quirks_)),
        tile_elements_(std::size_t{kPositions} * shape.channels),
        transformed_(pass.winograd_.integers),
        upper_(pass.winograd_.upper),
        wants_upper_(!weights.wide.upper.empty()) {
    const std::size_t elements = std::size_t{rows_} * tiles_ * tile_elements_;
    transformed_.resize(std::max(transformed_.size(), elements));
    if (wants_upper_) upper_.resize(std::max(upper_.size(), elements));
    for (Scratch& scratch : pass.scratch_) {
      scratch.products.resize(std::size_t{kPositions} * kMr * kBlock);
      scratch.saturated = 0;
    }
  }

  std::uint32_t saturated() const noexcept {
    std::uint32_t sum = 0;
    for (const Scratch& scratch : pass_.scratch_) sum += scratch.saturated;
    return sum;
  }

 private:
  // The channels of a vector. Cubes have whole atoms of channels, so no vector is partial.
  static constexpr std::size_t kChannels = 4;
  using Elements [[gnu::vector_size(kChannels * sizeof(std::int32_t))]] = std::int32_t;

  // Returns the index of a tile in transformed_, [position][channel].
  std::size_t at(std::uint32_t row, std::uint32_t tile) const noexcept {
    return (std::size_t{row} * tiles_ + tile) * tile_elements_;
  }

  template <typename Element>
  void transform_row_of(std::uint32_t row) noexcept {
    for (std::uint32_t tile = 0; tile < tiles_; ++tile) {
      const std::byte* const from = corner(row, tile);
      std::int16_t* const to = transformed_.data() + at(row, tile);
      for (std::uint32_t c = 0; c < shape_.channels; c += kChannels) {
        auto values =
            gather<Elements>(from + c * sizeof(Element), line_, pixel_, [](const std::byte* first) {
              Element few[kChannels];
              std::memcpy(few, first, sizeof(few));
              Elements read;
              for (unsigned i = 0; i < kChannels; ++i) read[i] = few[i];
              return read;
            });
        transform_tile(
            values, [](Elements a, Elements b) { return a + b; },
            [](Elements a, Elements b) { return a - b; });
        for (unsigned i = 0; i < kPositions; ++i)
          truncate<Element>(values[i], to + std::size_t{i} * shape_.channels + c);
      }
    }
    if (!wants_upper_) return;
    const auto first = transformed_.begin() + static_cast<std::ptrdiff_t>(at(row, 0));
    std::transform(first, first + static_cast<std::ptrdiff_t>(tiles_ * tile_elements_),
                   upper_.begin() + static_cast<std::ptrdiff_t>(at(row, 0)), biased_upper_byte);
  }
  // The shift after the transform, half away from zero, with saturation.
  template <typename Element>
  void truncate(Elements values, std::int16_t* to) const noexcept {
    const int shift = static_cast<int>(layer_.pra_truncate);
    if (shift != 0) values = (values + (1 << (shift - 1)) + (values < 0)) >> shift;
    for (unsigned i = 0; i < kChannels; ++i)
      to[i] = static_cast<std::int16_t>(std::clamp<std::int32_t>(
          values[i], std::numeric_limits<Element>::min(), std::numeric_limits<Element>::max()));
  }
  void transform_row(std::uint32_t row) noexcept override {
    layer_.proc == Precision::kInt8 ? transform_row_of<std::int8_t>(row)
                                    : transform_row_of<std::int16_t>(row);
  }

  void multiply(unsigned thread, unsigned block, std::uint32_t row,
                std::int32_t* values) noexcept override {
    constexpr std::int32_t kRun = 0;
    const WideWeights& wide = weights_.wide;
    Scratch& mine = pass_.scratch_[thread];
    for (std::uint32_t first = 0; first < tiles_; first += kMr) {
      const unsigned count = std::min(kMr, tiles_ - first);
      for (unsigned position = 0; position < kPositions; ++position) {
        std::size_t bases[kMr];
        for (unsigned i = 0; i < count; ++i)
          bases[i] = at(row, first + i) + std::size_t{position} * shape_.channels;
        const std::size_t group = std::size_t{block} * kPositions + position;
        const std::size_t weight = group * shape_.channels * kBlock;
        pass_.kernels_.wide({transformed_.data(), upper_.data(), bases, count, &kRun, 1,
                             shape_.channels / kKr, wide.words.data() + weight,
                             wide.upper_from(weight), wide.nudges_of(group),
                             static_cast<unsigned>(wide.chunk),
                             mine.products.data() + std::size_t{position} * kMr * kBlock});
      }
      for (unsigned i = 0; i < count; ++i) {
        std::int64_t sums[kResults * kResults][kBlock];
        for (unsigned k = 0; k < kBlock; ++k) {
          const auto results =
              transform_back(mine.products.data() + i * kBlock + k, std::size_t{kMr} * kBlock);
          for (unsigned j = 0; j < results.size(); ++j) sums[j][k] = results[j];
        }
        for (unsigned j = 0; j < kResults * kResults; ++j)
          mine.saturated +=
              pass_.kernels_.wide_clip(sums[j], 1, clip_, values + place(first + i, j));
      }
    }
  }

  const WideClip clip_;
  const std::size_t tile_elements_;
  std::vector<std::int16_t>& transformed_;
  std::vector<std::uint8_t>& upper_;
  const bool wants_upper_;
};

class ConvPass::WinogradHalves final : public WinogradRows {
 public:
  WinogradHalves(ConvPass& pass, const ConvLayer& layer, const ConvShape& shape,
                 const PackedWeights& weights, SdpPass& sdp)
      : WinogradRows(pass, layer, shape, weights, sdp),
        steps_(shape.channels / kChannels),
        transformed_(pass.winograd_.halves) {
    const std::size_t elements = std::size_t{rows_} * tiles_ * steps_ * kLanes;
    transformed_.resize(std::max(transformed_.size(), elements));
  }

 private:
  // The channels of a step.
  static constexpr unsigned kChannels = 4;

  // [step][position][channel]
  std::uint16_t* transformed(std::uint32_t row, std::uint32_t tile) noexcept {
    return transformed_.data() + (std::size_t{row} * tiles_ + tile) * steps_ * kLanes;
  }

  void transform_row(std::uint32_t row) noexcept override {
    for (std::uint32_t tile = 0; tile < tiles_; ++tile) {
      const std::byte* const from = corner(row, tile);
      std::uint16_t* const to = transformed(row, tile);
      for (std::uint32_t c = 0; c < shape_.channels; ++c) {
        auto values = gather<std::uint32_t>(from + c * 2, line_, pixel_, [](const std::byte* at) {
          return fp::widen<fp::Fp17>(static_cast<std::uint16_t>(read_word(at)));
        });
        transform_tile(values, fp::add<fp::Fp17>, fp::sub<fp::Fp17>);
        for (unsigned i = 0; i < kPositions; ++i)
          to[std::size_t{c / kChannels} * kLanes + i * kChannels + c % kChannels] =
              fp::narrow<fp::Fp17>(values[i]);
      }
    }
  }

  void multiply(unsigned, unsigned block, std::uint32_t row,
                std::int32_t* values) noexcept override {
    const std::uint32_t kernels = std::min(kBlock, shape_.kernels - block * kBlock);
    std::fill_n(values, std::size_t{kResults} * layer_.out_width * kBlock, 0);
    HalfProducts products;
    for (std::uint32_t tile = 0; tile < tiles_; ++tile)
      for (std::uint32_t k = 0; k < kernels; ++k) {
        std::array<HalfAccumulator, kResults * kResults> sums;
        const std::uint16_t* data = transformed(row, tile);
        const std::uint16_t* kernel =
            weights_.half.data() + (std::size_t{block} * kBlock + k) * steps_ * kLanes;
        for (std::uint32_t step = 0; step < steps_; ++step, data += kLanes, kernel += kLanes) {
          pass_.kernels_.half({data, kernel, kLanes, true}, products);
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
          for (unsigned j = 0; j < results.size(); ++j) sums[j].add(results[j], products.exponent);
        }
        for (unsigned j = 0; j < sums.size(); ++j)
          values[place(tile, j) + k] = static_cast<std::int32_t>(sums[j].deliver());
      }
  }

  const std::uint32_t steps_;
  std::vector<std::uint16_t>& transformed_;
};

std::uint32_t ConvPass::run_winograd(const ConvLayer& layer, const ConvShape& shape,
                                     const PackedWeights& weights, SdpPass& sdp) {
  if (layer.proc == Precision::kFp16) {
    WinogradHalves(*this, layer, shape, weights, sdp).run(kNanRate);
    return 0;
  }
  WinogradIntegers rows(*this, layer, shape, weights, sdp);
  rows.run(kWideRate);
  return rows.saturated();
}

}  // namespace nvdla::model
