// SPDX-License-Identifier: MIT
//
// Convolutions and transposed ones.
#include <algorithm>
#include <cmath>
#include <optional>

#include "import/nodes/window.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/sums.hpp"
#include "import/operators/transposed.hpp"

namespace nvdla::import {
namespace {

std::vector<Inferred> infer_conv(const Operation& op) {
  const Dims& x = op.dims(0);
  const Dims& w = op.dims(1);
  const auto axes = read_window(op, kernel_sizes(op));
  const std::int64_t groups = op.attribute("group", std::int64_t{1});
  if (groups < 1 || x[1] % groups != 0 || w[1] != x[1] / groups || w[0] % groups != 0)
    refuse_node("{} channels in {} groups do not go with kernels of {}", x[1], groups,
                dims_text(w));
  Dims dims = {x[0], w[0]};
  for (const WindowAxis& a : axes) dims.push_back(a.output);
  return {{op.type(0), dims}};
}

bool has_padding(const Window& window) {
  return (window.y.before | window.y.after | window.x.before | window.x.after) != 0;
}

void lower_conv(Lowering& l, const Operation& op) {
  const Dims dims = infer_conv(op)[0].dims;
  const Constant& w = op.need_constant(1, "the tensor of kernels");
  const Window window = two_axes(read_window(op, kernel_sizes(op)));
  const char* const roles = window_roles(dims.size() - 2);
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const View view = make_view(dims, roles);
  Sums sums{w.floats(), bias_of(op, 2, static_cast<std::size_t>(w.dims()[0])), op.has(2)};
  const BytePixels* const bytes = l.bytes_of(x);
  std::optional<ByteForm> form;
  if (bytes != nullptr) {
    form.emplace(*bytes, has_padding(window));
    sums.has_bias |= form->add_to_bias(sums.weights, sums.bias);
  }
  Epilogue epilogue(l, dims, view, true);
  const std::string layer = l.name();
  const ValueId last = follow_sums(l, op.node().outputs[0], dims, view, sums, epilogue);
  Convolution c;
  c.name = layer;
  c.kernels = u32(w.dims()[0]);
  c.groups = u32(op.attribute("group", std::int64_t{1}));
  set_window(c, window);
  c.weights = std::span<const float>(sums.weights);
  // ONNX leaves the order of sums open.
  c.arithmetic.any_order = true;
  if (form) form->set(sums.weights, c);
  epilogue.set(c);
  l.put(last, l.network().convolution(x, c), view);
}

void lower_transposed(Lowering& l, const Operation& op) {
  const Dims dims = infer_transposed(op)[0].dims;
  const Constant& w = op.need_constant(1, "the tensor of kernels");
  const Window window = two_axes(read_window(op, kernel_sizes(op), true));
  const char* const roles = window_roles(dims.size() - 2);
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const View view = make_view(dims, roles);
  const TransposedKernels kernels =
      transposed_kernels(w.dims(), op.attribute("group", std::int64_t{1}), window);
  Sums sums{std::vector<float>(kernels.size), bias_of(op, 2, static_cast<std::size_t>(dims[1])),
            op.has(2)};
  for (std::size_t i = 0; i < kernels.places.size(); ++i)
    sums.weights[kernels.places[i]] = static_cast<float>(w.real(static_cast<std::int64_t>(i)));
  Epilogue epilogue(l, dims, view, true);
  epilogue.keep_to_channels();
  const std::string layer = l.name();
  const ValueId last = follow_sums(l, op.node().outputs[0], dims, view, sums, epilogue);
  Deconvolution d;
  d.name = layer;
  set_transposed_window(d, dims, window);
  d.weights = std::span<const float>(sums.weights);
  epilogue.set(d);
  l.put(last, l.network().deconvolution(x, d), view);
}

std::vector<Inferred> infer_conv_integer(const Operation& op) {
  return {{Type::kInt32, infer_conv(op)[0].dims}};
}

constexpr OperatorRow kConvRows[] = {
    {"Conv", infer_conv, nullptr, lower_conv,
     "Kernels are constants of one or two axes up to 32, of one axis up to 32 strides; dilations "
     "are up to 32, of real numbers along one axis any, along two also multiples of 2 to 8 up to "
     "32 "
     "times as large. What follows goes into weights, bias and SDP."},
    {"ConvInteger", infer_conv_integer, nullptr, refuse_int32,
     "With a Cast to float, factors and a QuantizeLinear behind it."},
    {"ConvTranspose", infer_transposed, nullptr, lower_transposed,
     "Kernels are constants of one or two axes up to 32; groups have zeros between them."},
};

}  // namespace

std::vector<std::int64_t> kernel_sizes(const Operation& op) {
  const Dims& w = op.dims(1);
  if (w.size() < 3) refuse_node("the kernels are {}; expected 3 axes or more", dims_text(w));
  const std::vector<std::int64_t> sizes(w.begin() + 2, w.end());
  if (op.integers("kernel_shape", sizes) != sizes)
    refuse_node("kernel_shape is not that of the kernels, {}", dims_text(w));
  return sizes;
}

std::vector<Inferred> infer_transposed(const Operation& op) {
  const Dims& x = op.dims(0);
  const Dims& w = op.dims(1);
  const auto axes = read_window(op, kernel_sizes(op), true);
  const std::int64_t groups = op.attribute("group", std::int64_t{1});
  if (groups < 1 || w[0] != x[1] || x[1] % groups != 0)
    refuse_node("{} channels in {} groups do not go with kernels of {}", x[1], groups,
                dims_text(w));
  Dims dims = {x[0], w[1] * groups};
  for (const WindowAxis& a : axes) dims.push_back(a.output);
  return {{op.type(0), dims}};
}

TransposedKernels transposed_kernels(const Dims& kernels, std::int64_t groups,
                                     const Window& window) {
  const std::int64_t channels = kernels[0], each = kernels[1], all = each * groups;
  const std::int64_t rows = (window.y.kernel - 1) * window.y.dilation + 1;
  const std::int64_t columns = (window.x.kernel - 1) * window.x.dilation + 1;
  if (all * channels * rows * columns > kMaxFolded) refuse_node("its kernels are too large");
  TransposedKernels out;
  out.size = static_cast<std::size_t>(all * channels * rows * columns);
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::int64_t group = c / (channels / groups);
    for (std::int64_t k = 0; k < each; ++k)
      for (std::int64_t r = 0; r < window.y.kernel; ++r)
        for (std::int64_t s = 0; s < window.x.kernel; ++s)
          out.places.push_back(static_cast<std::size_t>(
              (((group * each + k) * channels + c) * rows + r * window.y.dilation) * columns +
              s * window.x.dilation));
  }
  return out;
}

void set_transposed_window(Deconvolution& d, const Dims& result, const Window& window) {
  d.kernels = u32(result[1]);
  d.kernel_height = u32((window.y.kernel - 1) * window.y.dilation + 1);
  d.kernel_width = u32((window.x.kernel - 1) * window.x.dilation + 1);
  d.stride_height = u32(window.y.stride);
  d.stride_width = u32(window.x.stride);
  d.pad_top = u32(window.y.before);
  d.pad_left = u32(window.x.before);
  d.pad_bottom = u32(std::max<std::int64_t>(window.y.after, 0));
  d.pad_right = u32(std::max<std::int64_t>(window.x.after, 0));
  d.extra_bottom = u32(std::max<std::int64_t>(-window.y.after, 0));
  d.extra_right = u32(std::max<std::int64_t>(-window.x.after, 0));
}

std::span<const OperatorRow> conv_rows() noexcept { return kConvRows; }

}  // namespace nvdla::import
