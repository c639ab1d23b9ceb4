// SPDX-License-Identifier: MIT
//
// Convolutions of oneDNN: from int8 to int8, or in floats.
#pragma once

#include <cstdint>
#include <vector>

#include "network/shapes.hpp"
#include "peer/operation.hpp"

namespace nvdla::bench {

// Of activations. Bytes have signed weights.
enum class PeerNumbers { kSigned, kUnsigned, kFloat };

struct PeerConvolution {
  ConvShape shape;
  PeerNumbers numbers = PeerNumbers::kSigned;
  std::vector<float> source = {};       // unless it follows another operation
  std::vector<float> weights = {};      // KCRS, C of a group
  std::vector<std::int8_t> bytes = {};  // or these
  std::vector<float> bias = {};         // one per kernel, or none
  std::vector<float> scales = {};       // one per kernel, or one; not of floats
  std::int32_t source_zero_point = 0, result_zero_point = 0;
  std::uint32_t groups = 1;
  bool relu = false;
};

// Reads `source`'s result instead where that is given; adds its result to that of `sum` there.
Operation convolution(const PeerConvolution& conv, const Operation* source = nullptr,
                      const Operation* sum = nullptr);

}  // namespace nvdla::bench
