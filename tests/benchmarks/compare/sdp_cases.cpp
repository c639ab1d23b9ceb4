// SPDX-License-Identifier: MIT
//
// SDP: element-wise operations and tables.
#include <cmath>

#include "compare/unit_layer.hpp"

namespace nvdla::bench {
namespace {

// What a result is worth in int8 where the peer's is a real number below 1.
constexpr float kResultStep = 1.0F / 128;

Case relu_case(Precision precision) {
  UnitLayer layer{.input = unit_tensor(kUnitShape, precision)};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.pointwise(input, {.name = "relu", .x1 = nvdla::relu()});
  };
  return unit_case(layer, relu(layer.input), unit_tolerance(precision));
}

// What batch normalisation leaves of a layer: a shift and a multiplier for each channel, and ReLU.
Case batch_norm_case(Precision precision) {
  constexpr std::uint32_t kShift = 8;
  const bool half = precision == Precision::kFp16;
  Numbers numbers(3);
  const auto shifts = numbers.integers(kUnitShape.channels, -20, 20);
  auto factors = numbers.integers(kUnitShape.channels, 200, 300);
  const auto shifts16 = as<std::int16_t>(shifts), factors16 = as<std::int16_t>(factors);
  for (float& factor : factors) factor = std::ldexp(factor, -static_cast<int>(kShift));
  UnitLayer layer{.input = unit_tensor(kUnitShape, precision)};
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Pointwise pointwise{.name = "norm"};
    if (half) {
      pointwise.x1.alu = NVDLA_ALU_SUM;
      pointwise.x1.mul = NVDLA_MUL_MUL;
      pointwise.x1.alu_reals = shifts;
      pointwise.x1.mul_reals = factors;
    } else {
      pointwise.x1 = nvdla::batch_norm(shifts16, factors16, kShift);
    }
    pointwise.x1.relu = true;
    return network.pointwise(input, pointwise);
  };
  return unit_case(layer, batch_norm(layer.input, shifts, factors), unit_tolerance(precision, 1));
}

Case sum_case(Precision precision) {
  UnitLayer layer = layer_of_two(precision);
  layer.build = [](Network& network, Tensor input, Tensor other) {
    return network.pointwise(input, {.name = "add", .x1 = elementwise(NVDLA_ALU_SUM, other)});
  };
  return unit_case(layer, add(layer.input, layer.other, 1), unit_tolerance(precision));
}

// The other tensor has another scale.
Case scaled_sum_case() {
  const Precision precision = Precision::kInt8;
  UnitLayer layer = layer_of_two(precision);
  layer.build = [](Network& network, Tensor input, Tensor other) {
    Pointwise pointwise{.name = "add"};
    pointwise.y.alu = NVDLA_ALU_SUM;
    pointwise.y.tensor = other;
    pointwise.y.alu_converter = {.scale = 0x5000, .shift = 14};
    return network.pointwise(input, pointwise);
  };
  return unit_case(layer, add(layer.input, layer.other, 1.25F), unit_tolerance(precision, 1));
}

Case multiply_case(Precision precision) {
  const bool half = precision == Precision::kFp16;
  UnitLayer layer = layer_of_two(precision);
  layer.build = [half](Network& network, Tensor input, Tensor other) {
    return network.pointwise(input,
                             {.name = "multiply", .x1 = nvdla::multiply(other, half ? 0 : 7)});
  };
  return unit_case(layer, multiply(layer.input, layer.other, half ? 1 : kResultStep),
                   unit_tolerance(precision, 1));
}

Case sigmoid_case(Precision precision) {
  const bool half = precision == Precision::kFp16;
  UnitLayer layer{.input = unit_tensor(kUnitShape, precision)};
  LutFormat format = table_format(layer, kResultStep);
  if (!half) format.input_bits = 8;
  const Lut lut = lut::sigmoid(format);
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Pointwise pointwise{.name = "sigmoid"};
    lut.apply(pointwise);
    return network.pointwise(input, pointwise);
  };
  return unit_case(layer, sigmoid(layer.input), {half ? 1.0 / 256 : 1.5 * kResultStep});
}

}  // namespace

void add_sdp_cases(const Settings& settings) {
  add_unit(settings, "relu", relu_case);
  add_unit(settings, "shift, scale, relu", batch_norm_case);
  add_unit(settings, "add", sum_case);
  add_case(settings, {"unit", "add by Y, converted int8"}, scaled_sum_case);
  add_unit(settings, "multiply", multiply_case);
  add_unit(settings, "sigmoid", sigmoid_case);
}

}  // namespace nvdla::bench
