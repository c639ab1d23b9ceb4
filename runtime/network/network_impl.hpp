// SPDX-License-Identifier: MIT
//
// What a network knows: a list of tensors and a list of layers, each layer after those whose
// tensors it reads.
#ifndef NVDLA_NETWORK_NETWORK_IMPL_HPP
#define NVDLA_NETWORK_NETWORK_IMPL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "network/conv_node.hpp"
#include "network/pool_node.hpp"
#include "network/reshape_node.hpp"
#include "network/sdp_node.hpp"
#include "nvdla/network.hpp"

namespace nvdla {
namespace detail {

struct TensorNode {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::optional<ImageDesc> image;         // pixels, not a cube
  std::optional<std::uint32_t> producer;  // layer; inputs have none
  bool read = false;                      // by a layer
  bool planar = false;
  Memory memory = Memory::kDram;
};

// A tensor that the application writes or reads.
struct PortNode {
  std::string name;
  std::uint32_t tensor = 0;
  Quantization quantization;
};

// In place of the output of a layer that writes nothing.
inline constexpr std::uint32_t kNoTensor = ~std::uint32_t{0};

struct LayerNode {
  std::string name;
  std::uint32_t input = 0;
  std::uint32_t output = kNoTensor;
  std::variant<SdpNode, ConvNode, DeconvNode, PoolNode, NormNode, RubikNode, CopyNode> part;
  std::vector<std::uint32_t> operands;  // further tensors that it reads
  std::uint64_t macs = 0;               // of all cubes of the batch
};

}  // namespace detail

struct Network::Impl {
  std::vector<detail::TensorNode> tensors;
  std::vector<detail::PortNode> inputs;
  std::vector<detail::PortNode> outputs;
  std::vector<detail::LayerNode> layers;
  std::vector<nvdla_lut> luts;

  const detail::TensorNode& any_tensor(const char* what, Tensor tensor) const;
  // Refuses images, too.
  const detail::TensorNode& tensor(const char* what, Tensor tensor) const;
  // Refuses planes, too.
  const detail::TensorNode& cube(const char* what, Tensor tensor) const;
  void check_name(const char* what, std::string_view name) const;

  // Adding a layer: the operator of it that `what` names; the layer once it is right, which makes
  // its output and marks what it reads.
  detail::OperatorNode make_operator(const char* what, const Operator& op, const Shape& shape,
                                     Precision processing) const;
  detail::OperatorYNode make_operator_y(const OperatorY& op, bool compares, const Shape& shape,
                                        Precision processing);
  std::optional<detail::OperandTensor> operand(const char* what, Tensor tensor) const;
  // Index of a look-up table, which is taken over unless it is there already.
  std::uint32_t add_lut(const nvdla_lut& lut, nvdla_lut_unit unit);
  Tensor add_input(std::string_view name, detail::TensorNode node,
                   const Quantization& quantization);
  Tensor commit(detail::LayerNode layer, const Shape& shape, Precision precision,
                bool planar = false);
  void commit_silent(detail::LayerNode layer);
};

}  // namespace nvdla

#endif  // NVDLA_NETWORK_NETWORK_IMPL_HPP
