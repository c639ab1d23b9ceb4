// SPDX-License-Identifier: MIT
//
// Runs one convolution: walks the activations as an implicit matrix product and hands tiles of
// results to SDP while they are in cache. fp16 results are fp32 patterns in the same 32 bits.
#ifndef NVDLA_MODEL_CONV_CONV_PASS_HPP
#define NVDLA_MODEL_CONV_CONV_PASS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/conv/conv_data.hpp"
#include "model/conv/conv_expand.hpp"
#include "model/conv/conv_layer.hpp"
#include "model/conv/conv_tiles.hpp"
#include "model/conv/conv_weights.hpp"
#include "model/conv/half_steps.hpp"
#include "model/core/dma.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {

// The statistics of CDMA and CACC for a layer.
struct ConvCounters {
  std::uint32_t saturated = 0;
  fp::Specials data, weights;
};

class ConvPass {
 public:
  ConvPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels, const Options& options,
           ThreadPool& pool);

  // Returns the state of the convolution buffer, which survives layers; reset() clears it.
  const CbufState& cbuf() const noexcept { return cbuf_; }
  void reset() { cbuf_ = {}; }

  // Reads compressed weights, or finds room for plain ones. Returns why the weights keep the layer
  // from ending, or nothing.
  std::string prepare(const ConvLayer& layer, const ConvStart& start);
  // The layer must have passed conv_fault() and prepare(); `sdp` has begun its own.
  ConvCounters run(const ConvLayer& layer, SdpPass& sdp);

 private:
  const WeightCache::Entry& load_weights(const ConvLayer& layer, const ConvShape& shape,
                                         ConvCounters& counters);
  // Returns true if it pays to copy the runs of each position once, for all blocks.
  bool joins_runs(const ConvShape& shape, const SdpPass& sdp) const noexcept;
  // Returns true if the weights are small enough to stay in cache while the input is read once;
  // otherwise the weights are read once.
  static bool input_once(const ConvShape& shape, const SdpPass& sdp) noexcept;
  void fetch_data(const ConvLayer& layer, const ConvShape& shape, const SdpPass& sdp);
  // Lists the offsets of the kernel's positions from its first element, in elements.
  void list_taps(const ConvLayer& layer, const ConvShape& shape);
  void run_bytes(const ConvLayer& layer, const ConvShape& shape, const PackedWeights& weights,
                 std::uint32_t batch, SdpPass& sdp);
  std::uint32_t run_wide(const ConvLayer& layer, const ConvShape& shape,
                         const PackedWeights& weights, std::uint32_t batch, SdpPass& sdp);
  std::uint32_t run_pieces(const ConvLayer& layer, const ConvShape& shape,
                           const PackedWeights& weights, std::uint32_t batch, SdpPass& sdp);
  void run_half(const ConvLayer& layer, const ConvShape& shape, const PackedWeights& weights,
                std::uint32_t batch, SdpPass& sdp);
  void run_half_with_nans(const ConvLayer& layer, const ConvShape& shape,
                          const PackedWeights& weights, SdpPass& sdp);
  // Requires that no operand is a NaN.
  void run_half_fast(const ConvLayer& layer, const ConvShape& shape, const PackedWeights& weights,
                     SdpPass& sdp);
  class WinogradRows;
  class WinogradIntegers;
  class WinogradHalves;
  std::uint32_t run_winograd(const ConvLayer& layer, const ConvShape& shape,
                             const PackedWeights& weights, SdpPass& sdp);

  // Approximate products per nanosecond, which decide whether threads pay.
  static constexpr double kDepthwiseRate = 80, kWideRate = 40, kHalfRate = 2, kNanRate = 0.4;
  // Bytes of weights per nanosecond from beyond a processor's own caches.
  static constexpr double kWeightRate = 20;
  // Bytes of activations per nanosecond that are rearranged.
  static constexpr double kFetchRate = 12;

  const nvdla_hw& hw_;
  Dma& dma_;
  const Kernels& kernels_;
  Quirks quirks_;
  bool fast_half_;
  ThreadPool& pool_;
  CbufState cbuf_;
  ConvFetch fetch_;  // of the prepared layer
  WeightCache weights_;
  WeightExpander expander_;
  ConvData data_;
  ConvTiles tiles_;

  // The state of one thread of the pool.
  struct Scratch {
    std::vector<std::int64_t> sums =
        std::vector<std::int64_t>(std::size_t{kMostPositions} * kBlock);
    std::vector<std::uint16_t> lanes;  // the steps of one position
    std::vector<std::int16_t> half;    // a step of a tile: mantissas, groups
    // Winograd: [position][kMr][kBlock]
    std::vector<std::int64_t> products;
    // The inputs of a tile of open data or of joined runs, and the tile's first position.
    std::vector<std::byte> strip;
    std::uint32_t strip_first = 0;
    std::uint32_t saturated = 0;
  };
  std::vector<Scratch> scratch_;

  std::vector<std::int16_t> wide_data_;
  std::vector<std::uint8_t> upper_data_;  // WideTile::upper
  std::vector<std::int8_t> upper_bytes_;  // PieceTile::upper
  std::vector<std::uint8_t> lower_bytes_;
  const std::uint16_t* half_data_ = nullptr;  // of a batch
  HalfSteps half_steps_;
  std::vector<std::int16_t> half_mantissas_, half_groups_;
  std::vector<float> float_data_;
  std::vector<std::int32_t> runs_, taps_;
  // The transformed inputs of Winograd, and the results of its tasks.
  struct Winograd {
    std::vector<std::int16_t> integers;
    std::vector<std::uint8_t> upper;  // of these
    std::vector<std::uint16_t> halves;
    std::vector<std::int32_t> values;
  };
  Winograd winograd_;
};

// `ClipShift` is CACC's right shift of a sum before delivery. The logic has 16 bits of fraction, so
// for a longer shift it drops the lower bits before rounding; the reference model keeps them all.
struct ClipShift {
  unsigned dropped, rounded;

  ClipShift(unsigned clip, Quirks quirks) noexcept
      : dropped(quirks != Quirks::kCmodel && clip > kFraction ? clip - kFraction : 0),
        rounded(clip - dropped) {}

 private:
  static constexpr unsigned kFraction = 16;
};

// Returns the delivery of exact integer sums.
inline WideClip wide_clip(const ConvLayer& layer, Quirks quirks) noexcept {
  const ClipShift shift(layer.clip, quirks);
  return {(std::int64_t{1} << (layer.proc == Precision::kInt8 ? 33 : 47)) - 1, shift.dropped,
          shift.rounded};
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_PASS_HPP
