// SPDX-License-Identifier: MIT
//
// The weight banks of the convolution buffer: a ring of entries. CDMA stores whole WEIGHT_BYTES
// behind what is there, CSC reads from the oldest entry on and frees what it has read, so a layer
// that brings more than its kernels take leaves entries to the next one, which reads them first.
#ifndef NVDLA_MODEL_CONV_WEIGHT_RING_HPP
#define NVDLA_MODEL_CONV_WEIGHT_RING_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"

namespace nvdla::model {

struct ConvLayer;

using RawWeights = std::shared_ptr<const std::vector<std::byte>>;

// How a layer comes to its weights.
struct WeightTurn {
  bool banks_changed = false;  // CDMA and CSC have begun again at the first entry
  bool fetches = true;         // else the layer takes what was kept
  // CDMA's clock stands while it has nothing to fetch, and what CSC frees meanwhile is lost to it.
  bool gated = false;
  bool fetching = true;  // CDMA is at it when CSC starts
};

class WeightRing {
 public:
  bool kept() const noexcept { return kept_; }
  // What is in the ring, oldest entry first, as the multipliers get it; none if it is empty.
  const RawWeights& bytes() const noexcept { return bytes_; }
  // From CSC's start to the layer's end. Returns why it never ends, or nothing.
  std::string run(const nvdla_hw& hw, const ConvLayer& layer, const WeightTurn& turn);
  // Returns whether a layer leaves some of the bytes that it brings to the layers behind it.
  static bool leaves_bytes(const nvdla_hw& hw, const ConvLayer& layer) noexcept;
  // Then with the ring's bytes, those that the layer has brought included; they may be null where
  // it leaves none.
  void end(const nvdla_hw& hw, const ConvLayer& layer, const RawWeights& bytes);

 private:
  void release(std::uint64_t entries, bool noticed) noexcept;
  std::string stream(const nvdla_hw& hw, const ConvLayer& layer, const WeightTurn& turn);
  std::string full(const nvdla_hw& hw, const ConvLayer& layer, std::uint64_t group,
                   std::uint64_t waits_for, std::uint64_t stored) const;

  RawWeights bytes_;
  // SKIP_WEIGHT_RLS of the last layer, and the entries that CSC frees when the next one starts
  // without WEIGHT_REUSE: all of WEIGHT_BYTES, read or not.
  bool kept_ = false;
  bool expanded_ = false;  // kept from compressed weights: `bytes_` are not the ring's own
  std::uint64_t kept_entries_ = 0;
  // What CDMA takes for occupied. In the second generation only a release lowers it: it survives a
  // change of the banks, which empties the ring.
  std::uint64_t counted_ = 0;
  std::uint64_t missed_ = 0;  // entries whose release CDMA has not seen
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_WEIGHT_RING_HPP
