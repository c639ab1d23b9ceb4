// SPDX-License-Identifier: MIT
//
// `WeightExpander` expands compressed weights: a mask with a bit for each weight, the weights that
// are not zero, and the number of bytes of the latter for each kernel group.
#ifndef NVDLA_MODEL_CONV_CONV_EXPAND_HPP
#define NVDLA_MODEL_CONV_CONV_EXPAND_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "model/conv/conv_layer.hpp"
#include "model/conv/weight_ring.hpp"
#include "model/core/dma.hpp"
#include "model/core/recurring_search.hpp"
#include "support/float.hpp"

namespace nvdla::model {

class WeightExpander {
 public:
  WeightExpander(const nvdla_hw& hw, Dma& dma) noexcept : hw_(hw), dma_(dma) {}

  // Reads and expands the weights, unless an earlier result is valid because the bus reports no
  // change. Returns why hardware waits for weights for ever, or nothing.
  std::string expand(const ConvLayer& layer);

  // Return results for the layer expanded last: the uncompressed weight stream, and the NaNs and
  // infinities among the compressed fp16 weights.
  const RawWeights& stream() const noexcept { return entries_[search_.latest()].stream; }
  const fp::Specials& specials() const noexcept { return entries_[search_.latest()].specials; }
  // Replaces that stream by an equal one, which other objects share.
  void share(const RawWeights& stream) { entries_[search_.latest()].stream = stream; }

 private:
  // The parameters that, with the bytes in memory, determine the result.
  struct Key {
    Precision proc;
    std::uint32_t kernels, weight_banks;
    std::uint64_t kernel_bytes;
    // For the weights, the mask and the group sizes:
    Ram ram;
    std::array<std::uint64_t, 3> addresses, sizes;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::array<std::uint64_t, 3> generations;
    RawWeights stream;
    fp::Specials specials;
  };

  std::uint32_t group_kernels(const ConvLayer& layer) const noexcept;
  std::uint32_t groups(const ConvLayer& layer) const noexcept;
  Key key_of(const ConvLayer& layer) const noexcept;
  // Returns the generations of the three buffers; a 0 means that the bus does not track changes.
  std::array<std::uint64_t, 3> generations(const Key& key) const noexcept;
  std::string expand(const ConvLayer& layer, const Key& key, Entry& entry) const;

  const nvdla_hw& hw_;
  Dma& dma_;
  std::vector<Entry> entries_;  // in the order in which layers came first
  RecurringSearch search_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_EXPAND_HPP
