// SPDX-License-Identifier: MIT
//
// Compressed weights: a mask with a bit for each weight, the weights that are not zero, and for
// each kernel group the bytes that those take.
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

  // Reads and expands, unless it has done so before and the bus vouches for all that was read.
  // Returns why hardware waits for ever for weights, or nothing.
  std::string expand(const ConvLayer& layer);

  // Of the layer that was expanded last: the stream as it was before compression, and what there
  // is of fp16 in the weights as they came.
  const RawWeights& stream() const noexcept { return entries_[search_.latest()].stream; }
  const fp::Specials& specials() const noexcept { return entries_[search_.latest()].specials; }
  // Equal bytes that others know take the place of that stream.
  void share(const RawWeights& stream) { entries_[search_.latest()].stream = stream; }

 private:
  // What the result follows from, beside the bytes.
  struct Key {
    Precision proc;
    std::uint32_t kernels, weight_banks;
    std::uint64_t kernel_bytes;
    // Weights, mask, sizes of groups.
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
  // Of the three buffers; 0 in any of them says nothing.
  std::array<std::uint64_t, 3> generations(const Key& key) const noexcept;
  std::string expand(const ConvLayer& layer, const Key& key, Entry& entry) const;

  const nvdla_hw& hw_;
  Dma& dma_;
  std::vector<Entry> entries_;  // in the order in which layers came first
  RecurringSearch search_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_EXPAND_HPP
