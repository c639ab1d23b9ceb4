// SPDX-License-Identifier: MIT
//
// These functions add a layer to a network: each checks the layer, adds a node to the graph and
// returns the output. Network calls them by add_layer(); a function may call others to express its
// operator by theirs. All refuse tensors of other networks, and those that are no feature cubes
// where nothing else is noted.
#ifndef NVDLA_COMPILER_OPERATORS_ADD_OPERATORS_HPP
#define NVDLA_COMPILER_OPERATORS_ADD_OPERATORS_HPP

#include <span>
#include <string_view>

#include "compiler/operators/network_impl.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

// Runs `add`, which adds a layer to `net`, after it has checked that `name` is free; errors name
// the layer.
template <typename Add>
auto add_layer(const Network::Impl& net, std::string_view name, const Add& add) {
  const auto index = static_cast<std::uint32_t>(net.layers.size());
  return with_error_context(layer_text(index, name), index, [&] {
    net.check_layer_name(name);
    return add();
  });
}

// Adds a convolution of a cube or an image; refuses kernels that do not fit the input, operators
// that do not fit the precision, and rewrites that exclude each other.
Tensor add_convolution(Network::Impl& net, Tensor input, const Convolution& convolution);
// Adds a convolution of all positions; refuses inputs beyond 32x32 positions, and weights that are
// not one for each output and element.
Tensor add_fully_connected(Network::Impl& net, Tensor input, const FullyConnected& layer);
// Adds a convolution of one position; refuses a matrix that is not of channels by columns.
Tensor add_matrix_product(Network::Impl& net, Tensor input, const MatrixProduct& product);
// Adds a deconvolution, in which operators that were `fitted` take the place of the bias; refuses
// kernels of another precision than the input, and operands of tensors or of elements.
Tensor add_deconvolution(Network::Impl& net, Tensor input, const Deconvolution& deconvolution,
                         const QuantizedOperators* fitted = nullptr);

// These add the same with operators that QuantizedOperators::fit() finds; they refuse what it
// refuses, such as an input whose quantisation is not known.
Tensor add_convolution(Network::Impl& net, Tensor input, const Convolution& layer,
                       const ConvolutionScales& scales);
Tensor add_fully_connected(Network::Impl& net, Tensor input, const FullyConnected& layer,
                           const ConvolutionScales& scales);
Tensor add_matrix_product(Network::Impl& net, Tensor input, const MatrixProduct& product,
                          const ConvolutionScales& scales);
Tensor add_deconvolution(Network::Impl& net, Tensor input, const Deconvolution& layer,
                         const ConvolutionScales& scales);

// Adds SDP operators on each element; refuses operands of another shape, and operators, a converter
// or bounds that the precisions rule out.
Tensor add_pointwise(Network::Impl& net, Tensor input, const Pointwise& pointwise);
// Adds a sum or difference; refuses fp16, precisions that differ, what QuantizedAddition::fit()
// refuses, and shapes that differ.
Tensor add_addition(Network::Impl& net, Tensor a, Tensor b, const Addition& layer);
// Adds a product; refuses fp16, precisions that differ, what QuantizedMultiplication::fit()
// refuses, and shapes that differ where neither is a single position.
Tensor add_multiplication(Network::Impl& net, Tensor a, Tensor b, const Multiplication& layer);
// Adds a function of each element as a look-up table, which in int16 is interpolated; refuses fp16,
// and what activation_results() refuses.
Tensor add_activation(Network::Impl& net, Tensor input, const Activation& layer);
// Adds bounds that elements are held to; refuses fp16, tensors whose quantisation is not known, and
// what element_bounds() refuses.
Tensor add_clamp(Network::Impl& net, Tensor input, const Clamp& layer);
// Adds the greater of two elements; refuses fp16, precisions that differ, tensors whose
// quantisation is not known or not the same, and shapes that differ.
Tensor add_maximum(Network::Impl& net, Tensor a, Tensor b, std::string_view name);
// Adds the lesser of two elements; refuses the same as add_maximum().
Tensor add_minimum(Network::Impl& net, Tensor a, Tensor b, std::string_view name);
// Adds a comparison, which has no output; refuses the same as add_pointwise().
void add_comparison(Network::Impl& net, Tensor input, const Comparison& comparison);
// Adds a comparison of the sums of a convolution; refuses a convolution that changes or splits
// these sums behind X2, and one that add_convolution() refuses.
void add_comparison(Network::Impl& net, Tensor input, const Convolution& convolution,
                    const Comparison& comparison);

// Adds a pooling; refuses windows beyond the padded input, averages of more than 8x8 elements and
// strides beyond 16.
Tensor add_pooling(Network::Impl& net, Tensor input, const Pooling& pooling);
// Adds an average as a convolution with ones, or on the CPU where that would not be exact; refuses
// windows that do not fit the padded input, and scales of fp16.
Tensor add_average(Network::Impl& net, Tensor input, const Average& average);
// Adds a local response normalisation; refuses other windows than 3, 5, 7 and 9, and one without a
// look-up table.
Tensor add_normalization(Network::Impl& net, Tensor input, const Normalization& normalization);

// Adds a move of channels to positions; refuses channels that are no multiple of the positions, and
// a result that is too large for a cube.
Tensor add_contraction(Network::Impl& net, Tensor input, const Contraction& contraction);
// Adds a repetition of each element; refuses scales beyond 32, and a result that is too large.
Tensor add_upsampling(Network::Impl& net, Tensor input, const Upsampling& upsampling);
// Adds planes of a cube, one a channel.
Tensor add_split(Network::Impl& net, Tensor input, std::string_view name);
// Adds a cube of planes; refuses a cube.
Tensor add_merge(Network::Impl& net, Tensor planes, std::string_view name);
// Adds a copy of a cube or of planes.
Tensor add_copy(Network::Impl& net, Tensor input, std::string_view name);
// Adds tensors side by side; refuses fewer than two, those that differ in precision or in another
// axis, and a result that is too large.
Tensor add_concatenation(Network::Impl& net, std::span<const Tensor> parts,
                         const Concatenation& concatenation);
// Adds a range of an axis; refuses an empty range, and one beyond the input.
Tensor add_slice(Network::Impl& net, Tensor input, const Slice& slice);
// Adds a border of one value; refuses a value that is no element, and a result that is too large.
Tensor add_padding(Network::Impl& net, Tensor input, const Padding& padding);
// Adds another shape of the elements in the order CHW; refuses one of more or fewer elements.
Tensor add_reshape(Network::Impl& net, Tensor input, const Reshape& reshape);

// The CPU computes the layers below. Those that calculate with quantisations refuse ones that are
// not known, and ones that the precision does not have.

// Adds a softmax over the channels of each position; refuses, if it is to round as loadables do,
// int16 and quantisations that loadables do not have.
Tensor add_softmax(Network::Impl& net, Tensor input, const Softmax& layer);
// Adds (shift + scale * x)^power; refuses the same as add_softmax(), and numbers that are not
// finite.
Tensor add_power(Network::Impl& net, Tensor input, const Power& layer);
// Adds a table with the results of a function for all elements; refuses an empty function.
Tensor add_element_function(Network::Impl& net, Tensor input, const ElementFunction& layer);
// Adds a layer normalisation; refuses an epsilon below 0, and gamma or beta with other than one
// finite value a channel.
Tensor add_layer_normalization(Network::Impl& net, Tensor input, const LayerNormalization& layer);
Tensor add_instance_normalization(Network::Impl& net, Tensor input,
                                  const InstanceNormalization& layer);
// Adds a product of two tensors as matrices; refuses precisions, batches or lengths that differ.
Tensor add_tensor_product(Network::Impl& net, Tensor a, Tensor b, const TensorProduct& layer);
// Adds the channel of the greatest element; refuses a precision that cannot number the channels.
Tensor add_argmax(Network::Impl& net, Tensor input, const Argmax& layer);
// Adds an exchange of axes; refuses an order that names one twice.
Tensor add_transpose(Network::Impl& net, Tensor input, const Transpose& layer);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_OPERATORS_ADD_OPERATORS_HPP
