// SPDX-License-Identifier: MIT
//
// Compressed weights: a mask with a bit for each weight, the weights that are not zero, and for
// each kernel group the bytes that those take.
#ifndef NVDLA_MODEL_CONV_EXPAND_HPP
#define NVDLA_MODEL_CONV_EXPAND_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "model/conv_layer.hpp"
#include "model/dma.hpp"

namespace nvdla::model {

struct ExpandedWeights {
  // The stream as it was before compression.
  std::vector<std::byte> stream;
  // As it came.
  std::vector<std::byte> fetched;
};

// Reads and expands. Returns why hardware waits for ever for weights, or nothing.
std::string expand_weights(const nvdla_hw& hw, Dma& dma, const ConvLayer& layer,
                           ExpandedWeights& weights);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_EXPAND_HPP
