// SPDX-License-Identifier: MIT
//
// `WeightRing` models the weight banks of the convolution buffer, a ring of entries. CDMA appends
// all of WEIGHT_BYTES; CSC reads from the oldest entry on and frees what it has read. A layer that
// brings more than its kernels use therefore leaves entries to the next layer, which reads them
// first.
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

// The circumstances under which a layer gets its weights.
struct WeightTurn {
  bool banks_changed = false;  // CDMA and CSC start again at the first entry
  bool fetches = true;         // else the layer takes what was kept
  // CDMA's clock is gated while it has nothing to fetch, and CDMA misses what CSC frees meanwhile.
  bool gated = false;
  bool fetching = true;  // CDMA is fetching when CSC starts
};

class WeightRing {
 public:
  bool kept() const noexcept { return kept_; }
  // Returns the bytes in the ring for the multipliers, oldest entry first; null if it is empty.
  const RawWeights& bytes() const noexcept { return bytes_; }
  // Models the ring from CSC's start to the layer's end. Returns why the layer never ends, or
  // nothing.
  std::string run(const nvdla_hw& hw, const ConvLayer& layer, const WeightTurn& turn);
  // Returns true if a layer leaves some of the bytes that it brings to later layers.
  static bool leaves_bytes(const nvdla_hw& hw, const ConvLayer& layer) noexcept;
  // Call after run() with all of the ring's bytes, including those that the layer brought; they may
  // be null if the layer leaves none.
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
  // The entries that CDMA counts as occupied. In the second generation only a release lowers the
  // count, so it survives a change of the banks, which empties the ring.
  std::uint64_t counted_ = 0;
  std::uint64_t missed_ = 0;  // entries whose release CDMA has not seen
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_WEIGHT_RING_HPP
