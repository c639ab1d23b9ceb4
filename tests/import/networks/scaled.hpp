// SPDX-License-Identifier: MIT
//
// The numbers of an example network as frameworks have them: real weights, or int8 with a scale for
// each kernel, in place of the shifts and converters of the hardware.
#ifndef NVDLA_TESTS_IMPORT_NETWORKS_SCALED_HPP
#define NVDLA_TESTS_IMPORT_NETWORKS_SCALED_HPP

#include <cstdint>
#include <vector>

#include "numbers.hpp"

namespace network_models {

// Numbers of one layer. Lists are empty where the layer has none.
struct Scaled {
  std::vector<std::int8_t> weights;  // kernel, channel, line, column
  std::vector<float> scales;         // of the weights of each kernel
  std::vector<std::int32_t> bias;    // in steps of input scale * weight scale
  // The same in fp16. Of a Norm, which has neither kernels nor scales, these are its factors and
  // addends, in both precisions.
  std::vector<float> real_weights, real_bias;
  std::vector<float> gamma, beta;  // of a LayerNorm
  float product_factor = 1;        // of a Product, which its results are multiplied with
  float step = 1;                  // scale of the result
  float inner_step = 1;            // of a convolution's result before shortcut or activation
};

struct ScaledNetwork {
  networks::Graph graph;
  std::vector<Scaled> layers;
  networks::Integers image;
};

ScaledNetwork with_scales(const networks::Network& network);

// Returns whether the layer is one that frameworks have as a matrix product behind a Flatten: it
// sees all of its input at once, and leads to nothing but such layers.
bool is_fully_connected(const networks::Graph& graph, networks::Value value);
// Returns whether positions are tokens, of which models have a matrix, and not those of a picture.
bool has_tokens(const networks::Graph& graph);

}  // namespace network_models

#endif  // NVDLA_TESTS_IMPORT_NETWORKS_SCALED_HPP
