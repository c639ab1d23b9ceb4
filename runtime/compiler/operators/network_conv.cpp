// SPDX-License-Identifier: MIT
//
// Adding convolutions to a network.
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/conv_parts.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

using detail::ConvNode;
using detail::precision_name;
using detail::TensorNode;
using detail::throw_invalid_argument;

// Pixels have one component, or so many.
constexpr std::uint32_t kComponents = 4;

// Returns true for a tensor that lies as pixels, whatever passes choose: bytes with fp16 kernels.
bool lies_as_bytes(const TensorNode& in, Precision proc) {
  return !in.image && !in.producer && in.shape.channels <= kComponents &&
         in.precision == Precision::kInt8 && proc == Precision::kFp16;
}

// The way from the input to the arithmetic, and what of it the converter does.
void set_input(const TensorNode& in, const Convolution& c, nvdla_conv& conv) {
  const auto proc = static_cast<Precision>(conv.proc_precision);
  const bool image = in.image.has_value(), bytes = lies_as_bytes(in, proc);
  const bool same = in.precision == proc;
  if (!same && !bytes &&
      !(image ? in.precision != Precision::kFp16
              : in.precision == Precision::kInt16 && proc == Precision::kFp16)) {
    throw_invalid_argument("the input is {}, the kernels are {}: let a pointwise layer convert it",
                           precision_name(in.precision), precision_name(proc));
  }
  const InputConverter& cvt = c.input;
  const bool integers = in.precision != Precision::kFp16;
  const bool wanted =
      cvt.offset != 0 || !cvt.mean.empty() || cvt.scale != 1 || cvt.shift != 0 || cvt.signed_pixels;
  // Pixels are unsigned until the converter extends them.
  const bool has = integers && (image || !same);
  if (wanted && !has) {
    throw_invalid_argument("there is no converter between {} {} and {}",
                           image ? "pixels of" : "a tensor of", precision_name(in.precision),
                           precision_name(proc));
  }
  if (!image && !bytes && (!cvt.mean.empty() || cvt.signed_pixels)) {
    throw_invalid_argument("mean and signed_pixels are of images, the input is a tensor");
  }
  if (!has) return;
  if (bytes && conv.channels > 1) conv.channels = kComponents;
  if (!cvt.mean.empty() && (cvt.mean.size() != conv.channels || cvt.offset != 0)) {
    throw_invalid_argument(
        "{} mean values and an offset of {}: right are {}, one per component, and none",
        cvt.mean.size(), cvt.offset, conv.channels);
  }
  conv.flags |= NVDLA_CONV_CONVERT;
  if (!cvt.mean.empty()) conv.flags |= NVDLA_CONV_MEAN;
  if (cvt.signed_pixels || bytes) conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
  conv.cvt_offset = cvt.offset;
  conv.cvt_scale = cvt.scale;
  conv.cvt_truncate = cvt.shift;
  for (std::size_t i = 0; i < cvt.mean.size(); ++i) conv.mean[i] = cvt.mean[i];
}

// Kernels of an image, with zeros for the components that they leave out.
detail::Kernels image_kernels(const Convolution& c, WeightsDesc desc, std::uint32_t components) {
  const std::uint64_t channel =
      std::uint64_t{desc.kernels} * desc.kernel_height * desc.kernel_width;
  const std::size_t count = detail::kernel_count(c.weights);
  const std::uint64_t channels = count / std::max<std::uint64_t>(channel, 1);
  if (channels == 0 || channels > components || count != channels * channel) {
    throw_invalid_argument("{} weights given, {}x{}x{}x{} (KCRS) are {}, or that of fewer channels",
                           count, desc.kernels, components, desc.kernel_height, desc.kernel_width,
                           channel * components);
  }
  desc.channels = static_cast<std::uint32_t>(channels);
  return std::visit(
      [&](const auto& kernels) -> detail::Kernels {
        return add_channels(desc, kernels, components);
      },
      detail::copy_kernels(c.weights, desc));
}

// Channels of a group.
std::uint32_t check_groups(const Convolution& c, const TensorNode& in) {
  if (c.groups == 1) return in.shape.channels;
  if (c.groups == 0 || in.shape.channels % c.groups != 0 || c.kernels % c.groups != 0) {
    throw_invalid_argument("groups {}: they are equal parts of {} channels and {} kernels",
                           c.groups, in.shape.channels, c.kernels);
  }
  const char* reason = detail::wish_of_one_group(c.tuning);
  if (reason == nullptr && in.image) reason = "the input is an image";
  if (reason == nullptr && lies_as_bytes(in, detail::kernel_precision(c.weights)))
    reason = "the input lies as pixels";
  if (reason != nullptr)
    throw_invalid_argument("groups {}: {}, which has one group", c.groups, reason);
  return in.shape.channels / c.groups;
}

void check_rewrite(const char* name, Rewrite rewrite) {
  if (rewrite == Rewrite::kNever || rewrite == Rewrite::kAuto || rewrite == Rewrite::kAlways)
    return;
  throw_invalid_argument("{} {} is none of kNever (0), kAuto (1), kAlways (2)", name,
                         static_cast<int>(rewrite));
}

}  // namespace

const char* detail::wish_of_one_group(const Convolution::Tuning& tuning) noexcept {
  if (tuning.batch == Rewrite::kAlways) return "tuning.batch is kAlways";
  if (tuning.winograd == Rewrite::kAlways) return "tuning.winograd is kAlways";
  if (tuning.folding == Rewrite::kAlways) return "tuning.folding is kAlways";
  return nullptr;
}

void detail::check_tuning(const Convolution::Tuning& tuning, const nvdla_conv& conv) {
  check_rewrite("tuning.folding", tuning.folding);
  check_rewrite("tuning.winograd", tuning.winograd);
  check_rewrite("tuning.batch", tuning.batch);
  check_rewrite("tuning.pixels", tuning.pixels);
  check_rewrite("tuning.interleaving", tuning.interleaving);
  const bool bytes =
      conv.in_precision == NVDLA_PRECISION_INT8 && conv.proc_precision == NVDLA_PRECISION_FP16;
  if (bytes && conv.mode == NVDLA_CONV_DIRECT && tuning.pixels != Rewrite::kAlways) {
    throw Error(ErrorCode::kInvalidArgument,
                "int8 with fp16 kernels lies as pixels, and tuning.pixels is kNever");
  }
  if (tuning.folding == Rewrite::kAlways) {
    if (const char* reason = cannot_fold(conv))
      throw_invalid_argument("not folded in width: {}", reason);
  }
  if (tuning.folding != Rewrite::kNever && tuning.winograd != Rewrite::kNever) {
    throw Error(ErrorCode::kInvalidArgument,
                "folding and winograd are two ways to rewrite a layer: choose one");
  }
  if (tuning.batch == Rewrite::kAlways && tuning.winograd != Rewrite::kNever) {
    throw_invalid_argument("there are no tiles of several cubes: batch or winograd, choose one");
  }
}

detail::LayerNode detail::make_convolution(Network::Impl& net, Tensor input, const Convolution& c,
                                           const OperatorY& y, bool compares) {
  const TensorNode& tensor = net.any_tensor("input", input);
  if (!tensor.image) net.cube("input", input);
  const Precision processing = detail::kernel_precision(c.weights);
  WeightsDesc weights;
  weights.kernels = c.kernels;
  weights.channels = tensor.shape.channels;
  weights.kernel_height = c.kernel_height;
  weights.kernel_width = c.kernel_width;
  weights.precision = processing;
  detail::check_range("kernels", c.kernels, 1U, detail::kMaxSide);
  TensorDesc desc;
  desc.shape = tensor.shape;
  desc.precision = tensor.precision;

  ConvNode node;
  node.conv = make_conv(desc, weights);
  node.conv.stride_width = c.stride_width;
  node.conv.stride_height = c.stride_height;
  node.conv.dilation_width = c.dilation_width;
  node.conv.dilation_height = c.dilation_height;
  node.conv.pad_left = c.pad_left;
  node.conv.pad_right = c.pad_right;
  node.conv.pad_top = c.pad_top;
  node.conv.pad_bottom = c.pad_bottom;
  node.conv.pad_value = c.pad_value;
  node.conv.clip_truncate = c.arithmetic.accumulator_shift;
  if (tensor.image) {
    node.conv.mode = NVDLA_CONV_IMAGE;
    node.conv.pixel_format = tensor.image->format;
    node.conv.pixel_offset = tensor.image->x_offset;
  }
  set_input(tensor, c, node.conv);
  const Shape out = conv_output(node.conv);
  weights.channels = check_groups(c, tensor);
  node.groups = c.groups;
  const bool bytes = lies_as_bytes(tensor, processing);
  detail::Kernels kernels = tensor.image || bytes ? image_kernels(c, weights, node.conv.channels)
                                                  : detail::copy_kernels(c.weights, weights);
  if (!tensor.image && c.tuning.post_extension != 0) {
    throw_invalid_argument("tuning.post_extension {} is of images, the input is a tensor",
                           c.tuning.post_extension);
  }
  Convolution::Tuning tuning = c.tuning;
  if (bytes && tuning.pixels == Rewrite::kAuto) tuning.pixels = Rewrite::kAlways;
  detail::check_tuning(tuning, node.conv);
  node.winograd_truncate = c.arithmetic.winograd_truncate;
  detail::check_range("arithmetic.winograd_truncate", node.winograd_truncate, 0U, 2U);
  if (c.groups == 1) node.tuning = tuning;
  node.any_order = c.arithmetic.any_order;
  node.sdp =
      detail::conv_sdp(net, c, net.make_operator_y(y, compares, out, processing), out, processing);
  if (detail::nan_to_zero(c.arithmetic, processing, kernels)) {
    node.conv.flags |= NVDLA_CONV_NAN_TO_ZERO;
  }
  node.weights = std::make_shared<const detail::Kernels>(std::move(kernels));
  LayerNode layer;
  layer.name = c.name;
  layer.input = net.index("input", input);
  layer.operands = node.sdp.tensors();
  layer.macs = weights.elements() * out.height * out.width * out.batch;
  layer.part = std::move(node);
  return layer;
}

Tensor detail::add_convolution(Network::Impl& net, Tensor input, const Convolution& c) {
  LayerNode layer = make_convolution(net, input, c, c.y, false);
  const auto& node = std::get<ConvNode>(layer.part);
  const Shape out = conv_output(node.conv);
  const Precision result = conv_result(node.sdp.processing, c.precision);
  return net.commit(std::move(layer), out, result);
}

Tensor Network::convolution(Tensor input, const Convolution& c) {
  return detail::add_layer(impl(), c.name,
                           [&] { return detail::add_convolution(impl(), input, c); });
}

}  // namespace nvdla
