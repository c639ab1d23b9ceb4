// SPDX-License-Identifier: MIT
//
// The layers of a network as its user added them, and what each of them became.
#ifndef NVDLA_SUPPORT_USER_LAYER_HPP
#define NVDLA_SUPPORT_USER_LAYER_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::detail {

struct UserLayer {
  // Sources that are inputs of the network have this bit, and the number of the input.
  static constexpr std::uint32_t kInput = std::uint32_t{1} << 31;

  std::string name;  // may be empty
  std::string kind;  // "convolution", "max pooling", ...
  // Window and its steps; 0 for kinds without one.
  std::uint32_t kernel_height = 0, kernel_width = 0;
  std::uint32_t stride_height = 0, stride_width = 0;
  Shape input, output;  // a layer without an output has that of its input
  Precision input_precision = Precision::kInt8, output_precision = Precision::kInt8;
  bool silent = false;                 // it has no output
  std::vector<std::uint32_t> sources;  // earlier layers, and inputs
  // Layers of the compiled network that do its work, in the order in which they run. Layers that
  // became part of another one have that one's; views, which move nothing, have none.
  std::vector<std::uint32_t> layers;
};

// All layers of a network, and where its outputs come from, by their order: as UserLayer::sources.
struct UserNetwork {
  std::vector<UserLayer> layers;
  std::vector<std::uint32_t> outputs;
};

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_USER_LAYER_HPP
