// SPDX-License-Identifier: MIT
//
// Adding a pooling to a network.
#include <cmath>
#include <utility>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/network_impl.hpp"
#include "packing/precision.hpp"
#include "support/fp17.hpp"

namespace nvdla {
namespace {

using detail::check_range;
using detail::throw_invalid_argument;

struct PoolAxis {
  const char* name;
  std::uint32_t size, before, after, kernel, stride, most;
};

std::uint32_t output_size(const PoolAxis& a) {
  check_range(fmt::format("kernel_{}", a.name), a.kernel, 1U, a.most);
  check_range(fmt::format("stride in {}", a.name), a.stride, 1U, 16U);
  check_range(fmt::format("padding before the {}", a.name), a.before, 0U, a.kernel - 1);
  check_range(fmt::format("padding after the {}", a.name), a.after, 0U, a.kernel - 1);
  const std::uint32_t padded = a.before + a.size + a.after;
  if (padded < a.kernel) {
    throw_invalid_argument("padded {} {} is smaller than the kernel, {}", a.name, padded, a.kernel);
  }
  return (padded - a.kernel) / a.stride + 1;
}

// Sets what n padded elements add to a sum, and the factors of sums.
void set_average(nvdla_pdp& pdp, const Pooling& p, Precision precision) {
  const bool real = precision == Precision::kFp16;
  pdp.recip_width = detail::pool_reciprocal(p.kernel_width, real);
  pdp.recip_height = detail::pool_reciprocal(p.kernel_height, real);
  if (real) {
    if (!std::isfinite(p.pad_value))
      throw_invalid_argument("pad_value {} is not finite", p.pad_value);
  } else {
    const double low = precision == Precision::kInt8 ? -128 : -32768;
    if (p.pad_value != std::round(p.pad_value)) {
      throw_invalid_argument("pad_value {} is no integer, the input is {}", p.pad_value,
                             detail::precision_name(precision));
    }
    check_range("pad_value", p.pad_value, low, -low - 1);
  }
  if ((p.pad_left | p.pad_right | p.pad_top | p.pad_bottom) == 0) return;
  for (int n = 1; n <= 7; ++n) {
    pdp.pad_value[n - 1] = real ? static_cast<std::int32_t>(arith::to_fp17(n * p.pad_value))
                                : n * static_cast<std::int32_t>(p.pad_value);
  }
}

}  // namespace

Tensor detail::add_pooling(Network::Impl& net, Tensor input, const Pooling& p) {
  const TensorNode& in = net.cube("input", input);
  if (p.method != NVDLA_POOL_AVERAGE && p.method != NVDLA_POOL_MAX && p.method != NVDLA_POOL_MIN) {
    throw_invalid_argument("method {} is none of AVERAGE, MAX, MIN", static_cast<int>(p.method));
  }
  if (p.method != NVDLA_POOL_AVERAGE && p.pad_value != 0) {
    throw_invalid_argument("pad_value {}: only an average has one", p.pad_value);
  }
  check_nan_to_zero(p.nan_to_zero, in.precision);
  const Precision precision = in.precision;
  const std::uint32_t most = p.method == NVDLA_POOL_AVERAGE ? kMaxWindow : kMaxSide;
  Shape out = in.shape;
  out.height = output_size(
      {"height", out.height, p.pad_top, p.pad_bottom, p.kernel_height, p.stride_height, most});
  out.width = output_size(
      {"width", out.width, p.pad_left, p.pad_right, p.kernel_width, p.stride_width, most});
  PoolNode node;
  nvdla_pdp& pdp = node.pdp;
  pdp.flags = p.nan_to_zero ? NVDLA_PDP_NAN_TO_ZERO : 0;
  pdp.method = p.method;
  pdp.kernel_width = p.kernel_width;
  pdp.kernel_height = p.kernel_height;
  pdp.stride_width = p.stride_width;
  pdp.stride_height = p.stride_height;
  pdp.pad_left = p.pad_left;
  pdp.pad_right = p.pad_right;
  pdp.pad_top = p.pad_top;
  pdp.pad_bottom = p.pad_bottom;
  if (p.method == NVDLA_POOL_AVERAGE) set_average(pdp, p, precision);
  LayerNode layer;
  layer.name = p.name;
  layer.input = net.index("input", input);
  layer.part = node;
  return net.commit(std::move(layer), out, precision);
}

Tensor Network::pooling(Tensor input, const Pooling& p) {
  return detail::add_layer(impl(), p.name, [&] { return detail::add_pooling(impl(), input, p); });
}

}  // namespace nvdla
