// SPDX-License-Identifier: MIT
//
// Adding quantised layers that work element by element to a network.
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/operators/add_operators.hpp"
#include "compiler/operators/network_impl.hpp"
#include "lut/lut_elements.hpp"
#include "lut/lut_eval.hpp"
#include "packing/precision.hpp"
#include "packing/quantized.hpp"

namespace nvdla {
namespace {

// The output of the layer that was added last stands for that.
Tensor standing_for(Network::Impl& net, Tensor output, const Quantization& quantization) {
  net.tensors[net.index("output", output)].quantization = quantization;
  return output;
}

Precision check_integers(const Network::Impl& net, const char* what, Tensor tensor) {
  const Precision precision = net.cube(what, tensor).precision;
  if (precision == Precision::kFp16)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is {}: quantised layers are of int8 or int16", what,
                            detail::precision_name(precision)));
  return precision;
}

// Returns the precision of both.
Precision check_alike(const Network::Impl& net, Tensor a, Tensor b) {
  const Precision precision = check_integers(net, "a", a);
  if (check_integers(net, "b", b) != precision)
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a is {}, b is {}: they are to be the same", detail::precision_name(precision),
                    detail::precision_name(net.cube("b", b).precision)));
  return precision;
}

Tensor choose(Network::Impl& net, nvdla_alu alu, Tensor a, Tensor b, std::string_view name) {
  check_alike(net, a, b);
  const auto of_a = net.cube("a", a).quantization, of_b = net.cube("b", b).quantization;
  if (!of_a || !of_b)
    detail::throw_invalid_argument(
        "the quantisation of {} is not known: that of a and b has to be, and the same",
        of_a ? "b" : "a");
  if (*of_a != *of_b)
    detail::throw_invalid_argument(
        "a has scale {} and zero point {}, b {} and {}: they are to be the same", of_a->scale,
        of_a->zero_point, of_b->scale, of_b->zero_point);
  Pointwise chosen;
  chosen.name = name;
  chosen.x1 = elementwise(alu, b);
  return standing_for(net, detail::add_pointwise(net, a, chosen), *of_a);
}

// Says how a product gets along without operator Y.
std::string advice_of(const QuantizedMultiplication& fitted, const char* factor) {
  return fmt::format("a has zero point {} and b {}: give {} zero point 0", fitted.a_zero_point(),
                     fitted.b_zero_point(), factor);
}

}  // namespace

Tensor detail::add_addition(Network::Impl& net, Tensor a, Tensor b, const Addition& layer) {
  const Precision precision = check_alike(net, a, b);
  Addition known = layer;
  if (!known.a) known.a = net.cube("a", a).quantization;
  if (!known.b) known.b = net.cube("b", b).quantization;
  const auto fitted = QuantizedAddition::fit(known, precision);
  const std::array<std::int16_t, 1> addend = {static_cast<std::int16_t>(-fitted.zero_point())};
  const std::array<std::int16_t, 1> factor = {fitted.factor()};
  Pointwise sum;
  sum.name = layer.name;
  sum.x1 = batch_norm(addend, factor, 0);
  sum.x2 = elementwise(NVDLA_ALU_SUM, fitted.first_is_a() ? b : a, fitted.shift());
  sum.output = fitted.output();
  sum.bounds = fitted.bounds();
  return standing_for(net, add_pointwise(net, fitted.first_is_a() ? a : b, sum), layer.output);
}

Tensor Network::add(Tensor a, Tensor b, const Addition& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_addition(impl(), a, b, layer); });
}

Tensor detail::add_clamp(Network::Impl& net, Tensor input, const Clamp& layer) {
  const Precision precision = check_integers(net, "input", input);
  const auto known = layer.input ? layer.input : net.cube("input", input).quantization;
  if (!known) throw_invalid_argument("the quantisation of the input is not known: say it");
  Pointwise clamp;
  clamp.name = layer.name;
  clamp.bounds = element_bounds(layer.bounds, *known, precision);
  return standing_for(net, add_pointwise(net, input, clamp), *known);
}

Tensor Network::clamp(Tensor input, const Clamp& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_clamp(impl(), input, layer); });
}

Tensor detail::add_multiplication(Network::Impl& net, Tensor a, Tensor b,
                                  const Multiplication& layer) {
  const Precision precision = check_alike(net, a, b);
  Multiplication known = layer;
  if (!known.a) known.a = net.cube("a", a).quantization;
  if (!known.b) known.b = net.cube("b", b).quantization;
  const auto fitted = QuantizedMultiplication::fit(known, precision);
  // The other one is multiplied as it is, or by operator Y, which can take its zero point away.
  Tensor input = a, other = b;
  std::int16_t zero_point = fitted.a_zero_point(), other_zero_point = fitted.b_zero_point();
  const Shape of_a = net.cube("a", a).shape, of_b = net.cube("b", b).shape;
  const auto positions = [](const Shape& s) { return s.height * s.width; };
  if (of_a == of_b ? zero_point == 0 && other_zero_point != 0 : positions(of_a) < positions(of_b)) {
    std::swap(input, other);
    std::swap(zero_point, other_zero_point);
  }
  const std::array<std::int16_t, 1> addend = {static_cast<std::int16_t>(-zero_point)};
  const std::array<std::int16_t, 1> factor = {fitted.factor()};
  Pointwise product;
  product.name = layer.name;
  product.x1 = batch_norm(addend, factor, 0);
  if (other_zero_point == 0) {
    product.x2 = nvdla::multiply(other);
  } else {
    product.y.mul = NVDLA_MUL_MUL;
    product.y.tensor = other;
    product.y.mul_converter = Converter{.offset = other_zero_point};
  }
  product.output = fitted.output();
  product.bounds = fitted.bounds();
  const Tensor output = standing_for(net, add_pointwise(net, input, product), layer.output);
  if (other_zero_point != 0) {
    std::get<SdpNode>(net.layers.back().part).without_y =
        advice_of(fitted, of_a == of_b ? "one factor"
                          : other == a ? "a"
                                       : "b");
  }
  return output;
}

Tensor Network::multiply(Tensor a, Tensor b, const Multiplication& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_multiplication(impl(), a, b, layer); });
}

Tensor detail::add_maximum(Network::Impl& net, Tensor a, Tensor b, std::string_view name) {
  return choose(net, NVDLA_ALU_MAX, a, b, name);
}

Tensor Network::maximum(Tensor a, Tensor b, std::string_view name) {
  return detail::add_layer(impl(), name, [&] { return detail::add_maximum(impl(), a, b, name); });
}

Tensor detail::add_minimum(Network::Impl& net, Tensor a, Tensor b, std::string_view name) {
  return choose(net, NVDLA_ALU_MIN, a, b, name);
}

Tensor Network::minimum(Tensor a, Tensor b, std::string_view name) {
  return detail::add_layer(impl(), name, [&] { return detail::add_minimum(impl(), a, b, name); });
}

double interpolation_error(const Activation& activation) {
  const std::vector<double> results = detail::wide_activation_results(activation);
  const nvdla_lut lut = detail::lut_of_words(results);
  const detail::LutPair table(lut, false);
  double errors = 0, numbers = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double found = static_cast<double>(table.evaluate(static_cast<std::int64_t>(i) - 32768));
    const double steps = results[i] - activation.output.zero_point;
    errors += (found - results[i]) * (found - results[i]);
    numbers += steps * steps;
  }
  return numbers == 0 ? 0 : std::sqrt(errors / numbers);
}

Tensor detail::add_activation(Network::Impl& net, Tensor input, const Activation& layer) {
  const Precision precision = check_integers(net, "input", input);
  const TensorNode& in = net.cube("input", input);
  const Shape shape = in.shape;
  Activation known = layer;
  if (!known.input) known.input = in.quantization;
  SdpNode sdp;
  sdp.processing = precision;
  if (precision == Precision::kInt16) {
    sdp.y.lut = net.add_lut(lut_of_words(wide_activation_results(known)), NVDLA_LUT_SDP);
  } else {
    const auto results = activation_results(known);
    sdp.y.lut = net.add_lut(lut_of_bytes(results, NVDLA_LUT_SDP), NVDLA_LUT_SDP);
    sdp.lut_of_cdp = net.add_lut(lut_of_bytes(results, NVDLA_LUT_CDP), NVDLA_LUT_CDP);
  }
  LayerNode node;
  node.name = layer.name;
  node.input = net.index("input", input);
  node.part = std::move(sdp);
  return standing_for(net, net.commit(std::move(node), shape, precision), layer.output);
}

Tensor Network::activation(Tensor input, const Activation& layer) {
  return detail::add_layer(impl(), layer.name,
                           [&] { return detail::add_activation(impl(), input, layer); });
}

}  // namespace nvdla
