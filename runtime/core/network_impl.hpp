// SPDX-License-Identifier: MIT
//
// What a network knows: a list of tensors and a list of layers, each layer after those whose
// tensors it reads.
#ifndef NVDLA_CORE_NETWORK_IMPL_HPP
#define NVDLA_CORE_NETWORK_IMPL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/operators.hpp"
#include "nvdla/network.hpp"

namespace nvdla {
namespace detail {

struct TensorNode {
  Shape shape;
  std::optional<std::uint32_t> producer;  // layer; inputs have none
  bool read = false;                      // by a layer
};

// A tensor that the application writes or reads.
struct PortNode {
  std::string name;
  std::uint32_t tensor = 0;
  Quantization quantization;
};

struct LayerNode {
  std::string name;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  // With a convolution: its geometry and its weights (KCRS); SDP alone has no weights.
  bool has_conv = false;
  nvdla_conv conv = {};
  std::vector<std::int8_t> weights;
  OperatorPair operators;
  Converter converter;
  std::uint64_t macs = 0;
};

}  // namespace detail

struct Network::Impl {
  std::vector<detail::TensorNode> tensors;
  std::vector<detail::PortNode> inputs;
  std::vector<detail::PortNode> outputs;
  std::vector<detail::LayerNode> layers;

  const detail::TensorNode& tensor(const char* what, Tensor tensor) const;
  void check_name(const char* what, std::string_view name) const;
};

}  // namespace nvdla

#endif  // NVDLA_CORE_NETWORK_IMPL_HPP
