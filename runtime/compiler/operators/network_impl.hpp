// SPDX-License-Identifier: MIT
//
// Network::Impl checks what is added to a network, and adds it to its graph.
#ifndef NVDLA_COMPILER_OPERATORS_NETWORK_IMPL_HPP
#define NVDLA_COMPILER_OPERATORS_NETWORK_IMPL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace detail {

// TensorHandle opens a handle.
struct TensorHandle {
  static std::uint64_t network(Tensor tensor) noexcept { return tensor.network_; }
  static std::uint32_t index(Tensor tensor) noexcept { return tensor.index_; }
  static Tensor make(std::uint64_t network, std::size_t index) noexcept {
    Tensor tensor;
    tensor.network_ = network;
    tensor.index_ = static_cast<std::uint32_t>(index);
    return tensor;
  }
};

}  // namespace detail

struct Network::Impl : detail::Graph {
  // No other network has it, and it is never 0.
  const std::uint64_t id = new_id();

  static std::uint64_t new_id() noexcept;

  // Returns the index of a tensor. Refuses empty handles and tensors of other networks; errors
  // begin with `what`, which names the use of the tensor.
  std::uint32_t index(std::string_view what, Tensor tensor) const;
  const detail::TensorNode& any_tensor(std::string_view what, Tensor tensor) const;
  // Refuses images, too.
  const detail::TensorNode& tensor(std::string_view what, Tensor tensor) const;
  // Refuses planes, too.
  const detail::TensorNode& cube(std::string_view what, Tensor tensor) const;
  // Returns "input 2 'image'", of the one that would come next in `ports`. Refuses a name that an
  // input or output has, and names that one.
  std::string new_port(const std::vector<detail::IoTensor>& ports, std::string_view name) const;
  // Refuses the name of an earlier layer, and names that layer. Layers may have none.
  void check_layer_name(std::string_view name) const;

  // Returns an operator of a layer, checked; `what` names it in errors.
  detail::OperatorNode make_operator(const char* what, const Operator& op, const Shape& shape,
                                     Precision processing) const;
  detail::OperatorYNode make_operator_y(const OperatorY& op, bool compares, const Shape& shape,
                                        Precision processing);
  std::optional<detail::OperandTensor> operand(const char* what, Tensor tensor) const;
  // Returns the index of a look-up table, which is copied unless it is there already.
  std::uint32_t add_lut(const nvdla_lut& lut, nvdla_lut_unit unit);
  // Checks shape, precision and pixels, and adds an input.
  Tensor add_input(std::string_view name, detail::TensorNode node,
                   const Quantization& quantization);
  // Without a `quantization` the output has the one that the network knows.
  void add_output(Tensor tensor, std::string_view name,
                  const std::optional<Quantization>& quantization);
  // Adds a layer that was checked, makes its output and marks what it reads.
  Tensor commit(detail::LayerNode layer, const Shape& shape, Precision precision,
                bool planar = false);
  // Does the same for a layer without output.
  void commit_silent(detail::LayerNode layer);
};

}  // namespace nvdla

#endif  // NVDLA_COMPILER_OPERATORS_NETWORK_IMPL_HPP
