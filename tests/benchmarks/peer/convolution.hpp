// SPDX-License-Identifier: MIT
//
// Convolutions of oneDNN from int8 to int8, weights signed.
#pragma once

#include <cstdint>
#include <vector>

#include "network/shapes.hpp"
#include "peer/operation.hpp"

namespace nvdla::bench {

struct PeerConvolution {
  ConvShape shape;
  bool unsigned_source = false;
  std::vector<float> source = {};   // unless it follows another operation
  std::vector<float> weights = {};  // KCRS
  std::vector<float> bias = {};     // one per kernel, or none
  std::vector<float> scales = {};   // one per kernel, or one
  bool relu = false;
};

// Reads `source`'s result instead where that is given; adds its result to that of `sum` there.
Operation convolution(const PeerConvolution& conv, const Operation* source = nullptr,
                      const Operation* sum = nullptr);

}  // namespace nvdla::bench
