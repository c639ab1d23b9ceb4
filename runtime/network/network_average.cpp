// SPDX-License-Identifier: MIT
//
// Adding averages to a network: sums by a depthwise convolution with ones, divided by multipliers,
// or on the CPU where that would not be exact, or is none that the device has.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "cpu/average.hpp"
#include "layout/precision.hpp"
#include "network/add_layer.hpp"
#include "network/conv_parts.hpp"
#include "network/cpu_layer.hpp"
#include "network/reciprocal.hpp"

namespace nvdla {
namespace {

using detail::check_range;
using detail::refuse_argument;

constexpr std::uint32_t kMostStride = 8;  // of a convolution

struct Window {
  const char* name;
  std::uint32_t size, kernel, stride, before, after;

  std::uint32_t outputs() const { return (before + size + after - kernel) / stride + 1; }
  // How many of its elements are there.
  std::uint32_t count(std::uint32_t output) const {
    const std::uint32_t begin = output * stride, end = begin + kernel;
    return std::min(end, before + size) - std::max(begin, before);
  }
  // Whether a convolution has it.
  bool of_device() const { return kernel <= detail::kMostPositions && stride <= kMostStride; }
};

Window check_window(Window w) {
  const std::string all = w.kernel == 0 ? fmt::format(" (all of the {})", w.name) : "";
  if (w.kernel == 0) w.kernel = w.size;
  check_range(fmt::format("kernel_{}{}", w.name, all), w.kernel, 1U, detail::kMaxSide);
  check_range(fmt::format("stride in {}", w.name), w.stride, 1U, detail::kMaxSide);
  check_range(fmt::format("padding before the {}", w.name), w.before, 0U, w.kernel - 1);
  check_range(fmt::format("padding after the {}", w.name), w.after, 0U, w.kernel - 1);
  if (w.before + w.size + w.after < w.kernel) {
    refuse_argument("padded {} {} is smaller than the kernel, {}", w.name,
                    w.before + w.size + w.after, w.kernel);
  }
  check_range(fmt::format("output {}", w.name), w.outputs(), 1U, detail::kMaxSide);
  return w;
}

// By what sums are divided: one number, or one for each position of the output.
std::vector<std::uint32_t> counts_of(const Window& y, const Window& x, bool padding_counts) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t i = 0; i < y.outputs(); ++i)
    for (std::uint32_t j = 0; j < x.outputs(); ++j)
      counts.push_back(padding_counts ? y.kernel * x.kernel : y.count(i) * x.count(j));
  const auto differs = [&](std::uint32_t count) { return count != counts[0]; };
  if (std::none_of(counts.begin(), counts.end(), differs)) counts.resize(1);
  return counts;
}

// What the convolution refers to.
struct Division {
  std::vector<std::int16_t> first, second;
  std::vector<std::int32_t> factor;
  std::vector<float> real;
};

// One multiplier of 32 bits, rounded up: halves go away from zero.
void divide_wide(std::uint32_t count, Division& division, Convolution& conv) {
  const std::uint32_t shift = 29 + static_cast<std::uint32_t>(std::bit_width(count));
  const std::uint64_t one = std::uint64_t{1} << shift;
  division.factor = {static_cast<std::int32_t>((one + count - 1) / count)};
  conv.y.mul = NVDLA_MUL_MUL;
  conv.y.mul_values = division.factor;
  conv.y.mul_shift = shift;
}

// Two of 16 bits, of the layer or for each element. False if some sums would not be divided
// exactly.
bool divide_narrow(const std::vector<std::uint32_t>& counts, std::uint32_t channels,
                   std::uint32_t bits, Division& division, Convolution& conv) {
  std::vector<std::uint32_t> known = counts;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const detail::Reciprocals all = detail::find_reciprocals(known, bits);
  if (!all.exact) return false;
  for (std::uint32_t c = 0; c < (counts.size() == 1 ? 1 : channels); ++c) {
    for (const std::uint32_t count : counts) {
      const auto at = std::lower_bound(known.begin(), known.end(), count) - known.begin();
      const auto& factors = all.factors[static_cast<std::size_t>(at)];
      division.first.push_back(factors.first);
      division.second.push_back(factors.second);
    }
  }
  conv.x1 = scale(division.first);
  conv.x2 = scale(division.second, all.shift);
  return true;
}

// What the sums of a convolution are divided by. False if it cannot be said, or not exactly.
bool divide(const detail::TensorNode& in, const Window& y, const Window& x,
            std::optional<std::int32_t> pad_value, Division& division, Convolution& conv) {
  if (!y.of_device() || !x.of_device()) return false;
  const std::vector<std::uint32_t> counts = counts_of(y, x, pad_value.has_value());
  if (in.precision == Precision::kFp16) {
    if (counts.size() > 1 || pad_value.value_or(0) != 0) return false;
    division.real = {1.0F / static_cast<float>(counts[0])};
    conv.y.mul = NVDLA_MUL_MUL;
    conv.y.mul_reals = division.real;
    return true;
  }
  if (in.precision == Precision::kInt16 && counts.size() == 1) {
    divide_wide(counts[0], division, conv);
    return true;
  }
  const std::uint32_t bits = in.precision == Precision::kInt8 ? 8 : 16;
  return divide_narrow(counts, in.shape.channels, bits, division, conv);
}

template <typename T>
std::vector<T> ones(std::size_t count, Precision precision) {
  return std::vector<T>(count, static_cast<T>(precision == Precision::kFp16 ? 0x3c00 : 1));
}

Tensor average_on_cpu(Network::Impl& net, Tensor input, const Average& a, const Window& y,
                      const Window& x) {
  const detail::TensorNode& in = net.cube("input", input);
  Shape out = in.shape;
  out.height = y.outputs();
  out.width = x.outputs();
  const cpu::AverageWindow window = {y.kernel, x.kernel, y.stride,   x.stride,
                                     y.before, x.before, a.pad_value};
  detail::CpuNode node;
  node.form = detail::no_form(
      "average of the CPU's, which takes those beyond 32x32, strides beyond 8 and counts that the "
      "device divides by inexactly");
  const cpu::Elements elements = {in.precision};
  node.run = [elements, window](auto sources, const auto& place) {
    cpu::average(detail::cpu_source(sources[0], elements), detail::cpu_target(place, elements),
                 window);
  };
  return detail::commit_cpu(net, a.name, {&input, 1}, std::move(node),
                            {out, in.precision, in.quantization});
}

}  // namespace

Tensor Network::average(Tensor input, const Average& a) {
  return detail::add_layer(impl(), a.name, [&] {
    const detail::TensorNode& in = impl().cube("input", input);
    const Shape shape = in.shape;
    const Precision precision = in.precision;
    const Window y = check_window(
        {"height", shape.height, a.kernel_height, a.stride_y, a.pad_top, a.pad_bottom});
    const Window x =
        check_window({"width", shape.width, a.kernel_width, a.stride_x, a.pad_left, a.pad_right});
    const std::int32_t pad_value = a.pad_value.value_or(0);
    if (precision == Precision::kFp16) {
      // Integers that fp16 has all of.
      check_range("pad_value", pad_value, -2048, 2048);
    } else {
      const std::int32_t low = precision == Precision::kInt8 ? -128 : -32768;
      check_range("pad_value", pad_value, low, -low - 1);
    }

    Convolution conv{.name = a.name, .kernels = shape.channels, .groups = shape.channels};
    conv.kernel_height = y.kernel;
    conv.kernel_width = x.kernel;
    conv.stride_y = y.stride;
    conv.stride_x = x.stride;
    conv.pad_top = y.before;
    conv.pad_bottom = y.after;
    conv.pad_left = x.before;
    conv.pad_right = x.after;
    conv.pad_value = pad_value;
    Division division;
    if (!divide(in, y, x, a.pad_value, division, conv))
      return average_on_cpu(impl(), input, a, y, x);
    const std::size_t taps = std::size_t{shape.channels} * y.kernel * x.kernel;
    const auto narrow =
        ones<std::int8_t>(precision == Precision::kInt8 ? taps : 0, Precision::kInt8);
    const auto wide = ones<std::int16_t>(precision == Precision::kInt16 ? taps : 0, precision);
    const auto half = ones<std::uint16_t>(precision == Precision::kFp16 ? taps : 0, precision);
    if (precision == Precision::kInt8) {
      conv.weights = std::span(narrow);
    } else if (precision == Precision::kFp16) {
      conv.weights = std::span(half);
    } else {
      conv.weights = std::span(wide);
    }
    return detail::commit_same_scale(impl(), input, conv);
  });
}

}  // namespace nvdla
