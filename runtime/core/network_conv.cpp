// SPDX-License-Identifier: MIT
//
// Adding a convolution to a network.
#include <utility>

#include "core/add_layer.hpp"
#include "core/check.hpp"
#include "core/network_impl.hpp"
#include "core/precision.hpp"

namespace nvdla {

Tensor Network::convolution(Tensor input, const Convolution& c) {
  return detail::add_layer(impl_->layers.size(), c.name, [&] {
    const detail::TensorNode& tensor = impl_->tensor("input", input);
    const Shape in = tensor.shape;
    if (tensor.precision != Precision::kInt8) {
      detail::refuse(ErrorCode::kNotAvailable,
                     "the input is {}: networks have int8 convolutions in this version",
                     detail::precision_name(tensor.precision));
    }
    WeightsDesc weights;
    weights.kernels = c.kernels;
    weights.channels = in.channels;
    weights.kernel_height = c.kernel_height;
    weights.kernel_width = c.kernel_width;
    detail::check_range("kernels", c.kernels, 1U, 8192U);
    TensorDesc desc;
    desc.shape = in;

    detail::ConvNode node;
    node.conv = make_conv(desc, weights);
    node.conv.stride_x = c.stride_x;
    node.conv.stride_y = c.stride_y;
    node.conv.dilation_x = c.dilation_x;
    node.conv.dilation_y = c.dilation_y;
    node.conv.pad_left = c.pad_left;
    node.conv.pad_right = c.pad_right;
    node.conv.pad_top = c.pad_top;
    node.conv.pad_bottom = c.pad_bottom;
    node.conv.pad_value = c.pad_value;
    node.conv.clip_truncate = c.accumulator_shift;
    const Shape out = conv_output(node.conv);
    if (c.weights.size() != weights.elements()) {
      detail::refuse_argument("{} weights given, {}x{}x{}x{} (KCRS) are {}", c.weights.size(),
                              c.kernels, in.channels, c.kernel_height, c.kernel_width,
                              weights.elements());
    }
    node.weights.assign(c.weights.begin(), c.weights.end());
    if (!c.bias.empty() && c.bias.size() != c.kernels) {
      detail::refuse_argument("{} bias values given, {} kernels need as many or none",
                              c.bias.size(), c.kernels);
    }
    const Precision processing = node.sdp.processing;
    node.sdp.operators =
        detail::place_operators(c.bias, impl_->make_operator("x1", c.x1, out, processing),
                                impl_->make_operator("x2", c.x2, out, processing), c.relu, out);
    node.sdp.converter = detail::check_converter(c.output, processing);
    detail::LayerNode layer;
    layer.name = c.name;
    layer.input = input.index;
    layer.operands = node.sdp.tensors();
    layer.macs = weights.elements() * out.height * out.width * out.batch;
    layer.part = std::move(node);
    return impl_->commit(std::move(layer), out, tensor.precision);
  });
}

}  // namespace nvdla
