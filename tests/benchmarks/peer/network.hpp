// SPDX-License-Identifier: MIT
//
// Networks of oneDNN: their convolutions with biases, factors, ReLU and sums, and no pooling.
#pragma once

#include <cstddef>
#include <vector>

#include "compare/ours.hpp"
#include "peer/convolution.hpp"

namespace nvdla::bench {

// Plain weights and biases, as an application has them.
class PeerNetwork {
 public:
  static PeerNetwork resnet50();
  static PeerNetwork mobilenetv1();

  // The primitives in their order, each with memory of its own, and weights as it wants them.
  std::vector<Operation> build() const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Layer {
    PeerConvolution conv;
    std::size_t source = kNone;  // a layer, or what is made up
    std::size_t sum = kNone;
  };

  // Returns the number of the layer. Random weights.
  std::size_t add(PeerConvolution conv, std::size_t source = kNone, std::size_t sum = kNone);

  std::vector<Layer> layers_;
  Numbers numbers_;
};

}  // namespace nvdla::bench
