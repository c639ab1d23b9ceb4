// SPDX-License-Identifier: MIT
#include "common/layers/reference.hpp"

namespace nvdla::test {
namespace {

Wide operand(const RefPart& part, const RefLayer& layer, unsigned y, unsigned x, unsigned lane) {
  switch (part.source) {
    case Source::kRegister:
      return part.value;
    case Source::kPerChannel:
      return part.values.at(lane);
    case Source::kPerElement:
      return part.values.at((std::size_t{y} * layer.out_width() + x) * layer.lanes + lane);
  }
  return 0;
}

Wide accumulate(const RefLayer& layer, unsigned y, unsigned x, unsigned k) {
  const unsigned bits = layer.wide_proc ? 48 : 34;
  Wide sum = 0;
  for (unsigned r = 0; r < layer.kernel_height; ++r)
    for (unsigned s = 0; s < layer.kernel_width; ++s)
      for (unsigned c = 0; c < layer.channels; ++c) {
        const int in_y = static_cast<int>(y * layer.stride_height + r * layer.dilation_height) -
                         static_cast<int>(layer.top);
        const int in_x = static_cast<int>(x * layer.stride_width + s * layer.dilation_width) -
                         static_cast<int>(layer.left);
        const bool inside = in_y >= 0 && in_y < static_cast<int>(layer.height) && in_x >= 0 &&
                            in_x < static_cast<int>(layer.width);
        const Wide value = inside ? layer.input.at((static_cast<std::size_t>(in_y) * layer.width +
                                                    static_cast<std::size_t>(in_x)) *
                                                       layer.channels +
                                                   c)
                                  : layer.pad_value;
        const Wide weight = layer.weights.at(
            ((std::size_t{k} * layer.kernel_height + r) * layer.kernel_width + s) * layer.channels +
            c);
        sum = saturate(sum + value * weight, bits);
      }
  return sum;
}

Wide operator_x(const RefX& unit, const RefLayer& layer, Wide value, unsigned y, unsigned x,
                unsigned lane) {
  if (!unit.active) return value;
  if (unit.alu.active) {
    const Wide other = saturate(operand(unit.alu, layer, y, x, lane) << unit.alu_shift, 32);
    if (unit.algorithm == 0) value = value > other ? value : other;
    if (unit.algorithm == 1) value = value < other ? value : other;
    if (unit.algorithm == 2) value += other;
  }
  if (unit.mul.active && unit.prelu && value >= 0) {
    value = static_cast<std::int32_t>(value);
  } else {
    if (unit.mul.active) value *= operand(unit.mul, layer, y, x, lane);
    value = saturate(round_shift(value, unit.mul_shift), 32);
  }
  if (unit.relu && value < 0) value = 0;
  return value;
}

}  // namespace

unsigned RefLayer::out_width() const {
  return (left + width + right - ((kernel_width - 1) * dilation_width + 1)) / stride_width + 1;
}

unsigned RefLayer::out_height() const {
  return (top + height + bottom - ((kernel_height - 1) * dilation_height + 1)) / stride_height + 1;
}

bool counts_as_saturated(bool first_generation, Wide product, unsigned shift) {
  const Wide unit = static_cast<Wide>(1) << shift;
  Wide floor = product / unit;
  if (floor * unit > product) --floor;
  const Wide result = saturate(round_shift(product, static_cast<int>(shift)), 17);
  if (first_generation) return floor - result > 1 || result - floor > 1;
  // Too large when rounded, too small before that.
  return round_shift(product, static_cast<int>(shift)) > 65535 || floor < -65536;
}

RefResult reference(const RefLayer& layer) {
  RefResult result;
  for (unsigned y = 0; y < layer.out_height(); ++y)
    for (unsigned x = 0; x < layer.out_width(); ++x)
      for (unsigned lane = 0; lane < layer.lanes; ++lane) {
        Wide value = 0;
        if (!layer.convolution) {
          value = layer.input.at((std::size_t{y} * layer.width + x) * layer.lanes + lane);
        } else if (lane < layer.kernels) {
          const Wide rounded = round_shift(accumulate(layer, y, x, lane), layer.clip);
          value = saturate(rounded, 32);
          result.cacc_saturated += value != rounded;
        }
        for (const RefX& unit : layer.x) value = operator_x(unit, layer, value, y, x, lane);
        const Wide product = (value - layer.offset) * layer.scale;
        value = saturate(round_shift(product, layer.shift), 17);
        result.sdp_saturated += counts_as_saturated(layer.first_generation, product, layer.shift);
        result.output.push_back(
            static_cast<std::int32_t>(saturate(value, layer.wide_output ? 16 : 8)));
      }
  return result;
}

}  // namespace nvdla::test
