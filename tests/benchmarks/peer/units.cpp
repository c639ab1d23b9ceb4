// SPDX-License-Identifier: MIT
#include "peer/units.hpp"

#include "peer/onednn.hpp"

namespace nvdla::bench {

using dnnl::memory;
using Type = memory::data_type;

namespace {

constexpr auto kInference = dnnl::prop_kind::forward_inference;

const char* type_name(Type type) {
  return type == Type::s8 ? "s8" : type == Type::f16 ? "f16" : type == Type::bf16 ? "bf16" : "f32";
}

bool plain_loop(const Operation& operation) {
  return operation.name().find("ref") != std::string::npos ||
         operation.name().find("simple") != std::string::npos;
}

// `make` in this type if oneDNN has more than a plain loop for it, else in floats.
template <typename Make>
Operation in_best_type(Type own, const Make& make) {
  try {
    const Operation operation = make(own);
    if (!plain_loop(operation)) return operation;
  } catch (const dnnl::error& error) {
    // A type that a primitive has not at all is a wrong argument.
    if (error.status != dnnl_unimplemented && error.status != dnnl_invalid_arguments) throw;
  }
  return make(Type::f32);
}

template <typename Make>
Operation in_best_type(Precision precision, const Make& make) {
  return in_best_type(precision == Precision::kInt8 ? Type::s8 : Type::f16, make);
}

// Channels together, as oneDNN has its numbers of one byte.
memory::desc together(const Shape& shape, Type type) {
  return {dims_of(shape), type, memory::format_tag::nhwc};
}

memory filled(const PeerTensor& tensor, Type type) {
  return bench::filled(together(tensor.shape, type), dims_of(tensor.shape), tensor.values);
}

// A primitive whose result lies as `to` says.
template <typename Primitive>
Operation operation(const typename Primitive::primitive_desc& primitive, const memory::desc& to,
                    Type type, std::unordered_map<int, memory> arguments) {
  auto impl = std::make_shared<Operation::Impl>();
  impl->name = std::string(type_name(type)) + " " + primitive.impl_info_str();
  impl->result = memory(to, peer_engine());
  arguments[DNNL_ARG_DST] = impl->result;
  impl->add(Primitive(primitive), arguments);
  return Operation(std::move(impl));
}

Operation eltwise(const PeerTensor& input, dnnl::algorithm algorithm) {
  return in_best_type(input.precision, [&](Type type) {
    using Eltwise = dnnl::eltwise_forward;
    const memory::desc desc = together(input.shape, type);
    const Eltwise::primitive_desc primitive({kInference, algorithm, desc}, peer_engine());
    return operation<Eltwise>(primitive, desc, type, {{DNNL_ARG_SRC, filled(input, type)}});
  });
}

Operation binary(const PeerTensor& input, const PeerTensor& other, dnnl::algorithm algorithm,
                 int scaled, float scale) {
  return in_best_type(input.precision, [&](Type type) {
    const memory::desc desc = together(input.shape, type);
    dnnl::primitive_attr attributes;
    if (scale != 1) attributes.set_scales(scaled, 0, {scale});
    const dnnl::binary::primitive_desc primitive({algorithm, desc, desc, desc}, attributes,
                                                 peer_engine());
    return operation<dnnl::binary>(
        primitive, desc, type,
        {{DNNL_ARG_SRC_0, filled(input, type)}, {DNNL_ARG_SRC_1, filled(other, type)}});
  });
}

// Moves elements from `source` to `target`, which lie the same memory out for oneDNN as `from` and
// `to`.
Operation move(const PeerTensor& input, const memory::desc& source, const memory::desc& target,
               const memory::desc& from, const memory::desc& to) {
  auto impl = std::make_shared<Operation::Impl>();
  impl->result = memory(target, peer_engine());
  impl->keep = bench::filled(source, dims_of(input.shape), input.values);
  const memory there(from, peer_engine(), impl->keep.get_data_handle());
  const memory here(to, peer_engine(), impl->result.get_data_handle());
  const dnnl::reorder::primitive_desc primitive(there, here);
  impl->name = std::string(type_name(source.data_type())) + " " + primitive.impl_info_str();
  impl->add(dnnl::reorder(primitive), {{DNNL_ARG_FROM, there}, {DNNL_ARG_TO, here}});
  return Operation(std::move(impl));
}

// Of two bytes only bits are moved, and oneDNN knows bf16 better than f16.
template <typename Make>
Operation move_in_best_type(Precision precision, const Make& make) {
  return in_best_type(precision == Precision::kInt8 ? Type::s8 : Type::bf16, make);
}

memory::format_tag blocks_of(std::uint32_t block) {
  return block == 32 ? memory::format_tag::aBcd32b : memory::format_tag::aBcd16b;
}

}  // namespace

Operation relu(const PeerTensor& input) { return eltwise(input, dnnl::algorithm::eltwise_relu); }

Operation sigmoid(const PeerTensor& input) {
  return eltwise(input, dnnl::algorithm::eltwise_logistic);
}

Operation add(const PeerTensor& input, const PeerTensor& other, float scale) {
  return binary(input, other, dnnl::algorithm::binary_add, DNNL_ARG_SRC_1, scale);
}

Operation multiply(const PeerTensor& input, const PeerTensor& other, float scale) {
  return binary(input, other, dnnl::algorithm::binary_mul, DNNL_ARG_SRC_0, scale);
}

Operation batch_norm(const PeerTensor& input, const std::vector<float>& shifts,
                     const std::vector<float>& scales) {
  return in_best_type(input.precision, [&](Type type) {
    using Norm = dnnl::batch_normalization_forward;
    using Flags = dnnl::normalization_flags;
    const memory::desc desc = together(input.shape, type);
    const Norm::primitive_desc primitive(
        {kInference, desc, 0.0F,
         Flags::use_global_stats | Flags::use_scale | Flags::use_shift | Flags::fuse_norm_relu},
        peer_engine());
    const memory::dims channels = {input.shape.channels};
    const memory::desc values(channels, Type::f32, memory::format_tag::a);
    const auto constants = [&](float value) {
      return bench::filled(values, channels, std::vector<float>(input.shape.channels, value));
    };
    std::vector<float> means = shifts;
    for (float& mean : means) mean = -mean;
    return operation<Norm>(primitive, desc, type,
                           {{DNNL_ARG_SRC, filled(input, type)},
                            {DNNL_ARG_MEAN, bench::filled(values, channels, means)},
                            {DNNL_ARG_VARIANCE, constants(1)},
                            {DNNL_ARG_SCALE, bench::filled(values, channels, scales)},
                            {DNNL_ARG_SHIFT, constants(0)}});
  });
}

Operation pooling(const PeerTensor& input, const PeerPooling& window) {
  return in_best_type(input.precision, [&](Type type) {
    using Pool = dnnl::pooling_forward;
    const auto out = [&](std::uint32_t size) {
      return (size + 2 * window.pad - window.size) / window.stride + 1;
    };
    Shape result = input.shape;
    result.height = out(input.shape.height);
    result.width = out(input.shape.width);
    const memory::dims strides(2, window.stride), kernel(2, window.size), pads(2, window.pad);
    const memory::desc to = together(result, type);
    const Pool::primitive_desc primitive(
        {kInference,
         window.average ? dnnl::algorithm::pooling_avg_include_padding
                        : dnnl::algorithm::pooling_max,
         together(input.shape, type), to, strides, kernel, pads, pads},
        peer_engine());
    return operation<Pool>(primitive, to, type, {{DNNL_ARG_SRC, filled(input, type)}});
  });
}

Operation normalization(const PeerTensor& input, const PeerNormalization& normalization) {
  return in_best_type(input.precision, [&](Type type) {
    using Norm = dnnl::lrn_forward;
    const memory::desc desc = together(input.shape, type);
    const Norm::primitive_desc primitive(
        {kInference, dnnl::algorithm::lrn_across_channels, desc, normalization.size,
         normalization.alpha, normalization.beta, normalization.k},
        peer_engine());
    return operation<Norm>(primitive, desc, type, {{DNNL_ARG_SRC, filled(input, type)}});
  });
}

Operation split(const PeerTensor& input, std::uint32_t block) {
  return move_in_best_type(input.precision, [&](Type type) {
    const memory::desc blocks(dims_of(input.shape), type, blocks_of(block));
    const memory::desc planes(dims_of(input.shape), type, memory::format_tag::nchw);
    return move(input, blocks, planes, blocks, planes);
  });
}

Operation merge(const PeerTensor& input, std::uint32_t block) {
  return move_in_best_type(input.precision, [&](Type type) {
    const memory::desc blocks(dims_of(input.shape), type, blocks_of(block));
    const memory::desc planes(dims_of(input.shape), type, memory::format_tag::nchw);
    return move(input, planes, blocks, planes, blocks);
  });
}

Operation contract(const PeerTensor& input, std::uint32_t stride) {
  const memory::dim s = stride, height = input.shape.height, width = input.shape.width;
  const memory::dim c = input.shape.channels / (s * s);
  Shape wide = input.shape;
  wide.channels = static_cast<std::uint32_t>(c);
  wide.height *= stride;
  wide.width *= stride;
  // Line, ky, column, kx, channel: a pixel of the source holds all of ky and kx.
  const memory::dims view = {height, s, width, s, c};
  return move_in_best_type(input.precision, [&](Type type) {
    const memory::desc from(view, type, {width * s * s * c, s * c, s * s * c, c, 1});
    const memory::desc to(view, type, {s * width * s * c, width * s * c, s * c, c, 1});
    return move(input, together(input.shape, type), together(wide, type), from, to);
  });
}

}  // namespace nvdla::bench
