// SPDX-License-Identifier: MIT
//
// The fields of the nodes of a graph, each listed once: printing, reading and comparing visit them.
// A new field of a node gets a line here, and nothing else.
//
// `visit_fields(visitor, node, base)` calls a member of the visitor for each field of `node`, with
// the same field of `base`, from which a printed node differs:
//
//   value(name, field, base)            a number, bool, enumerator, string, shape, or none of these
//   block(name, field, base)            a structure with fields of its own, or none
//   blocks(name, list, base, count)     a list of structures that are alike; count() of them
//   tensor(name, field, base)           the index of a tensor, or none
//   tensors(name, list, base)           indices of tensors
//   values(name, list, base, count)     constants; there are count() of them for a sound node
//   descriptor(text, field, base)       a structure of <drm/nvdla_layer.h>, whose fields are listed
//                                       in support/fields.hpp; it is a part of the node
//   operation(field, base)              an operation of the CPU: see host_ops/operation_fields.hpp
#ifndef NVDLA_COMPILER_GRAPH_NODE_FIELDS_HPP
#define NVDLA_COMPILER_GRAPH_NODE_FIELDS_HPP

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

#include "compiler/graph/graph.hpp"
#include "compiler/text/descriptor_text.hpp"

namespace nvdla::detail {

// Products of sizes from a text saturate.
inline std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product))
      return std::numeric_limits<std::uint64_t>::max();
  return product;
}

// `NodeContext` is what surrounds a node: how many values a field has depends on it.
struct NodeContext {
  const TensorNode* input = nullptr;
  const TensorNode* output = nullptr;  // none where a layer writes nothing
};

inline std::uint64_t operand_count(nvdla_operand_mode mode, const NodeContext& context) {
  const TensorNode& out = context.output != nullptr ? *context.output : *context.input;
  if (mode == NVDLA_OPERAND_LAYER) return 1;
  if (mode == NVDLA_OPERAND_CHANNEL) return out.shape.channels;
  return out.shape.elements() / out.shape.batch;
}

inline std::uint64_t kernel_value_count(const ConvNode& node) {
  const nvdla_conv& c = node.conv;
  return saturating_product({c.kernels, node.groups == 0 ? 0 : c.channels / node.groups,
                             c.kernel_height, c.kernel_width});
}

inline std::uint64_t kernel_value_count(const DeconvNode& node) {
  const WeightsDesc& w = node.desc.weights;
  return saturating_product({w.kernels, w.channels, w.kernel_height, w.kernel_width});
}

// The parts of a layer that nodes have; they lie nowhere yet.
inline const text::DescriptorText& conv_text() {
  static const text::DescriptorText text(NVDLA_OBJECT_LAYER, "conv.", "_place");
  return text;
}
inline const text::DescriptorText& pdp_text() {
  static const text::DescriptorText text(NVDLA_OBJECT_LAYER, "pdp.", "_place");
  return text;
}
inline const text::DescriptorText& cdp_text() {
  static const text::DescriptorText text(NVDLA_OBJECT_LAYER, "cdp.", "_place");
  return text;
}
inline const text::DescriptorText& rubik_text() {
  static const text::DescriptorText text(NVDLA_OBJECT_LAYER, "rubik.", "_place");
  return text;
}

/* ------------------------------------------------------------ values --- */

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const Quantization& base) {
  v.value("scale", n.scale, base.scale);
  v.value("zero_point", n.zero_point, base.zero_point);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const Converter& base) {
  v.value("offset", n.offset, base.offset);
  v.value("scale", n.scale, base.scale);
  v.value("shift", n.shift, base.shift);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const ElementBounds& base) {
  v.value("min", n.least, base.least);
  v.value("max", n.greatest, base.greatest);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const Corner& base) {
  v.value("channel", n.channel, base.channel);
  v.value("line", n.line, base.line);
  v.value("column", n.column, base.column);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const ImageDesc& base) {
  v.value("format", n.format, base.format);
  v.value("width", n.width, base.width);
  v.value("height", n.height, base.height);
  v.value("x_offset", n.x_offset, base.x_offset);
  v.value("line_stride", n.line_stride, base.line_stride);
  v.value("line_stride_uv", n.line_stride_uv, base.line_stride_uv);
  v.value("offset_uv", n.offset_uv, base.offset_uv);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const View& base) {
  v.value("whole", n.whole, base.whole);
  v.block("corner", n.corner, base.corner);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const TensorDesc& base) {
  v.value("shape", n.shape, base.shape);
  v.value("precision", n.precision, base.precision);
  v.value("atom", n.atom, base.atom);
  v.value("line_stride", n.line_stride, base.line_stride);
  v.value("surface_stride", n.surface_stride, base.surface_stride);
  v.value("batch_stride", n.batch_stride, base.batch_stride);
  v.value("planar", n.planar, base.planar);
  v.value("pixel", n.pixel, base.pixel);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const WeightsDesc& base) {
  v.value("kernels", n.kernels, base.kernels);
  v.value("channels", n.channels, base.channels);
  v.value("kernel_height", n.kernel_height, base.kernel_height);
  v.value("kernel_width", n.kernel_width, base.kernel_width);
  v.value("precision", n.precision, base.precision);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const nvdla_conv& base) {
  v.descriptor(conv_text(), n, base);
}

/* ----------------------------------------------------------- tensors --- */

// The shape and the precision stand in front of these.
template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const TensorNode& base) {
  v.block("image", n.image, base.image);
  v.value("planar", n.planar, base.planar);
  v.value("memory", n.memory, base.memory);
  v.block("quantization", n.quantization, base.quantization);
  v.value("producer", n.producer, base.producer);
  v.value("read", n.read, base.read);
  v.value("gaps", n.gaps, base.gaps);
  v.block("view", n.view, base.view);
  v.block("folded_for", n.folded_for, base.folded_for);
  v.value("pixel", n.pixel, base.pixel);
  v.block("desc", n.desc, base.desc);
}

/* --------------------------------------------------------------- SDP --- */

template <typename Visitor, typename Node>
void visit_operator(Visitor& v, Node& n, const OperatorNode& base) {
  v.value("alu", n.alu, base.alu);
  v.value("mul", n.mul, base.mul);
  v.value("mode", n.mode, base.mode);
  v.value("alu_shift", n.alu_shift, base.alu_shift);
  v.value("mul_shift", n.mul_shift, base.mul_shift);
  v.value("relu", n.relu, base.relu);
  v.tensor("tensor", n.tensor, base.tensor);
  const auto count = [&n](const NodeContext& context) { return operand_count(n.mode, context); };
  v.values("alu_values", n.alu_values, base.alu_values, count);
  v.values("mul_values", n.mul_values, base.mul_values, count);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const OperatorNode& base) {
  visit_operator(v, n, base);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const OperatorYNode& base) {
  visit_operator(v, n, base);
  v.block("alu_converter", n.alu_converter, base.alu_converter);
  v.block("mul_converter", n.mul_converter, base.mul_converter);
  v.value("lut", n.lut, base.lut);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const SdpNode& base) {
  v.block("x1", n.operators.x1, base.operators.x1);
  v.block("x2", n.operators.x2, base.operators.x2);
  v.block("y", n.y, base.y);
  v.block("converter", n.converter, base.converter);
  v.block("bounds", n.bounds, base.bounds);
  v.value("processing", n.processing, base.processing);
  v.value("nan_to_zero", n.nan_to_zero, base.nan_to_zero);
  v.value("relu_behind_y", n.relu_behind_y, base.relu_behind_y);
  v.value("without_y", n.without_y, base.without_y);
  v.value("lut_of_cdp", n.lut_of_cdp, base.lut_of_cdp);
}

/* ------------------------------------------------------ convolutions --- */

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const WinogradDesc& base) {
  visit_fields(v, n.weights, base.weights);
  v.value("stride_height", n.stride_height, base.stride_height);
  v.value("stride_width", n.stride_width, base.stride_width);
  v.value("weight_shift", n.weight_shift, base.weight_shift);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const WinogradForm& base) {
  v.block("conv", n.conv, base.conv);
  v.block("desc", n.desc, base.desc);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const KernelBlock& base) {
  v.value("first_kernel", n.first_kernel, base.first_kernel);
  v.value("kernels", n.kernels, base.kernels);
  v.value("first_channel", n.first_channel, base.first_channel);
  v.value("channels", n.channels, base.channels);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const ConvForm& base) {
  v.block("winograd", n.winograd, base.winograd);
  v.value("folded", n.folded, base.folded);
  v.value("images", n.images, base.images);
  v.value("kernel_lines", n.kernel_lines, base.kernel_lines);
  v.value("line_step", n.line_step, base.line_step);
  v.blocks("blocks", n.blocks, base.blocks, [] { return std::uint64_t{0}; });
  v.value("kernels_at_once", n.kernels_at_once, base.kernels_at_once);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const ConvNode& base) {
  v.descriptor(conv_text(), n.conv, base.conv);
  v.value("groups", n.groups, base.groups);
  v.values("weights", n.weights, base.weights,
           [&n](const NodeContext&) { return kernel_value_count(n); });
  visit_fields(v, n.sdp, base.sdp);
  v.value("folding", n.tuning.folding, base.tuning.folding);
  v.value("winograd", n.tuning.winograd, base.tuning.winograd);
  v.value("batching", n.tuning.batch, base.tuning.batch);
  v.value("pixels", n.tuning.pixels, base.tuning.pixels);
  v.value("interleaving", n.tuning.interleaving, base.tuning.interleaving);
  v.value("winograd_truncate", n.winograd_truncate, base.winograd_truncate);
  v.value("any_order", n.any_order, base.any_order);
  v.value("wanted_post_extension", n.tuning.post_extension, base.tuning.post_extension);
  v.block("form", n.form, base.form);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const DeconvNode& base) {
  v.value("input", n.desc.input, base.desc.input);
  visit_fields(v, n.desc.weights, base.desc.weights);
  v.value("stride_height", n.desc.stride_height, base.desc.stride_height);
  v.value("stride_width", n.desc.stride_width, base.desc.stride_width);
  v.value("pad_top", n.desc.pad_top, base.desc.pad_top);
  v.value("pad_bottom", n.desc.pad_bottom, base.desc.pad_bottom);
  v.value("pad_left", n.desc.pad_left, base.desc.pad_left);
  v.value("pad_right", n.desc.pad_right, base.desc.pad_right);
  v.value("extra_bottom", n.desc.extra_bottom, base.desc.extra_bottom);
  v.value("extra_right", n.desc.extra_right, base.desc.extra_right);
  v.value("accumulator_shift", n.accumulator_shift, base.accumulator_shift);
  v.value("nan_to_zero", n.nan_to_zero, base.nan_to_zero);
  v.value("zero_point", n.zero_point, base.zero_point);
  v.values("weights", n.weights, base.weights,
           [&n](const NodeContext&) { return kernel_value_count(n); });
  // One for each phase.
  v.blocks("sdp", n.sdp, base.sdp, [&n] {
    return saturating_product({n.desc.stride_height, n.desc.stride_width});
  });
}

/* ------------------------------------------------------------ others --- */

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const PoolNode& base) {
  v.descriptor(pdp_text(), n.pdp, base.pdp);
  v.value("flies", n.flies, base.flies);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const NormNode& base) {
  v.descriptor(cdp_text(), n.cdp, base.cdp);
  v.value("lut", n.lut, base.lut);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const RubikNode& base) {
  v.descriptor(rubik_text(), n.rubik, base.rubik);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor&, Node&, const CopyNode&) {}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const ConcatNode& base) {
  v.value("axis", n.axis, base.axis);
  v.tensors("parts", n.parts, base.parts);
  v.value("alignment", n.alignment, base.alignment);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const SliceNode& base) {
  v.block("corner", n.corner, base.corner);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const PadNode& base) {
  v.block("corner", n.corner, base.corner);
  v.value("value", n.value, base.value);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor&, Node&, const ReshapeNode&) {}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const UpsampleNode& base) {
  v.value("scale_height", n.scale_height, base.scale_height);
  v.value("scale_width", n.scale_width, base.scale_width);
}

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const CpuNode& base) {
  v.operation(n.operation, base.operation);
  v.value("sums_on_device", n.sums_on_device, base.sums_on_device);
}

/* ------------------------------------------------------------ layers --- */

// `LayerFields` is what each layer has beside its node, its name and its tensors.
struct LayerFields {
  std::uint64_t macs = 0;
  std::optional<std::uint32_t> absorbed_by;
};

template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const LayerFields& base) {
  v.value("macs", n.macs, base.macs);
  v.value("absorbed_by", n.absorbed_by, base.absorbed_by);
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_NODE_FIELDS_HPP
