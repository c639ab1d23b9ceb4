// SPDX-License-Identifier: MIT
#include "peer/convolution.hpp"

#include "peer/onednn.hpp"

namespace nvdla::bench {

using dnnl::memory;

namespace {

dnnl::primitive_attr attributes(const PeerConvolution& conv, bool sum) {
  dnnl::primitive_attr attributes;
  if (!conv.scales.empty())
    attributes.set_output_scales(conv.scales.size() > 1 ? 1 << 1 : 0, conv.scales);
  if (conv.source_zero_point != 0)
    attributes.set_zero_points(DNNL_ARG_SRC, 0, {conv.source_zero_point});
  if (conv.result_zero_point != 0)
    attributes.set_zero_points(DNNL_ARG_DST, 0, {conv.result_zero_point});
  dnnl::post_ops then;
  if (sum) then.append_sum(1.0F);
  if (conv.relu) then.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0, 0);
  attributes.set_post_ops(then);
  return attributes;
}

}  // namespace

Operation convolution(const PeerConvolution& conv, const Operation* source, const Operation* sum) {
  using Type = memory::data_type;
  const ConvShape& shape = conv.shape;
  const auto any = memory::format_tag::any;
  const memory::dims src = {1, shape.channels, shape.side, shape.side};
  memory::dims wei = {shape.kernels / conv.groups, shape.channels / conv.groups, shape.size,
                      shape.size};
  if (conv.groups > 1) wei.insert(wei.begin(), conv.groups);
  const memory::dims dst = {1, shape.kernels, shape.out(), shape.out()};
  const memory::dims strides = {shape.stride, shape.stride}, pads = {shape.pad, shape.pad};
  const bool real = conv.numbers == PeerNumbers::kFloat;
  const Type type = real ? Type::f32 : Type::s8;
  const Type activations = conv.numbers == PeerNumbers::kUnsigned ? Type::u8 : type;
  const memory::desc bias = conv.bias.empty()
                                ? memory::desc()
                                : memory::desc({shape.kernels}, real ? type : Type::s32, any);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      {src, activations, any}, {wei, type, any}, bias, {dst, type, any}, strides, pads, pads);
  const dnnl::convolution_forward::primitive_desc primitive(desc, attributes(conv, sum != nullptr),
                                                            peer_engine());
  auto impl = std::make_shared<Operation::Impl>();
  impl->name = primitive.impl_info_str();
  memory input;
  if (source == nullptr) {
    input = filled(primitive.src_desc(), src, conv.source);
  } else if (source->impl().result.get_desc() == primitive.src_desc()) {
    input = source->impl().result;
  } else {
    const memory& from = source->impl().result;
    input = memory(primitive.src_desc(), peer_engine());
    impl->add(dnnl::reorder(from, input), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, input}});
  }
  if (sum == nullptr)
    impl->result = memory(primitive.dst_desc(), peer_engine());
  else if (sum->impl().result.get_desc() == primitive.dst_desc())
    impl->result = sum->impl().result;
  else
    throw dnnl::error(dnnl_unimplemented, "oneDNN lays out a sum otherwise than what it adds to");
  const memory::desc weights = primitive.weights_desc();
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, input},
      {DNNL_ARG_WEIGHTS,
       conv.bytes.empty() ? filled(weights, wei, conv.weights) : filled(weights, wei, conv.bytes)},
      {DNNL_ARG_DST, impl->result}};
  if (!conv.bias.empty())
    arguments[DNNL_ARG_BIAS] = filled(primitive.bias_desc(), {shape.kernels}, conv.bias);
  impl->add(dnnl::convolution_forward(primitive), arguments);
  return Operation(std::move(impl));
}

}  // namespace nvdla::bench
