// SPDX-License-Identifier: MIT
//
// What a network knows: a list of tensors and a list of layers, each layer after those whose
// tensors it reads.
#ifndef NVDLA_CORE_NETWORK_IMPL_HPP
#define NVDLA_CORE_NETWORK_IMPL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/conv_node.hpp"
#include "core/sdp_node.hpp"
#include "nvdla/network.hpp"

namespace nvdla {
namespace detail {

struct TensorNode {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::optional<ImageDesc> image;         // pixels, not a cube
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
  std::variant<SdpNode, ConvNode, DeconvNode> part;
  std::vector<std::uint32_t> operands;  // further tensors that it reads
  std::uint64_t macs = 0;               // of all cubes of the batch
};

}  // namespace detail

struct Network::Impl {
  std::vector<detail::TensorNode> tensors;
  std::vector<detail::PortNode> inputs;
  std::vector<detail::PortNode> outputs;
  std::vector<detail::LayerNode> layers;

  const detail::TensorNode& any_tensor(const char* what, Tensor tensor) const;
  // Refuses images, too.
  const detail::TensorNode& tensor(const char* what, Tensor tensor) const;
  void check_name(const char* what, std::string_view name) const;

  // Adding a layer: the operator of it that `what` names; the layer once it is right, which makes
  // its output and marks what it reads.
  detail::OperatorNode make_operator(const char* what, const Operator& op, const Shape& shape,
                                     Precision processing) const;
  Tensor commit(detail::LayerNode layer, const Shape& shape, Precision precision);
};

}  // namespace nvdla

#endif  // NVDLA_CORE_NETWORK_IMPL_HPP
