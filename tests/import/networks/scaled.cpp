// SPDX-License-Identifier: MIT
#include "scaled.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "nvdla/types/half.hpp"

namespace network_models {
namespace {

using namespace networks;

// A residual block adds little to its shortcut, and has as many finer steps.
constexpr double kFinerSteps = 4;

float in_half(double x) { return nvdla::from_half(nvdla::to_half(static_cast<float>(x))); }

// Sets weights, scales and biases of a Conv or Double. `input` is the step of its input, `unit` the
// one in which the network counts its sums.
void scale_sums(Scaled& to, const Numbers& numbers, double input, double unit) {
  to.weights = numbers.weights;
  to.bias = numbers.bias;
  const std::size_t each = to.weights.size() / to.bias.size();
  const int shift = static_cast<int>(numbers.factor_shift + Numbers::kFraction);
  for (std::size_t k = 0; k < to.bias.size(); ++k) {
    const double scale = std::ldexp(numbers.factors[k], -shift) * unit / input;
    to.scales.push_back(static_cast<float>(scale));
    for (std::size_t i = k * each; i < (k + 1) * each; ++i)
      to.real_weights.push_back(in_half(to.weights[i] * scale));
    to.real_bias.push_back(in_half(to.bias[k] * scale * input));
  }
}

// Sets factors and addends of a Norm.
void scale_norm(Scaled& to, const Numbers& numbers, double input) {
  const int shift = static_cast<int>(numbers.factor_shift + Numbers::kFraction);
  for (std::size_t c = 0; c < numbers.bias.size(); ++c) {
    const double factor = std::ldexp(numbers.factors[c], -shift) / input;
    to.real_weights.push_back(in_half(factor));
    to.real_bias.push_back(in_half(numbers.bias[c] * factor * input));
  }
}

}  // namespace

ScaledNetwork with_scales(const Network& network) {
  ScaledNetwork out{network.graph, {}, network.results[0]};
  const std::vector<double> steps = networks::steps(network);
  for (Value value = 0; value < network.graph.layers().size(); ++value) {
    const Layer& layer = network.graph.layers()[value];
    const Numbers& numbers = network.numbers[value];
    Scaled scaled;
    scaled.gamma = numbers.gamma;
    scaled.beta = numbers.beta;
    scaled.step = static_cast<float>(steps[value]);
    double inner = step_before(activation_of(layer));
    if (const auto* conv = std::get_if<Conv>(&layer.what)) {
      double unit = inner;
      if (conv->shortcut != kNoValue) {
        unit = steps[conv->shortcut];
        inner = unit / kFinerSteps;
      }
      scale_sums(scaled, numbers, steps[layer.inputs[0]], unit);
    } else if (std::holds_alternative<Double>(layer.what)) {
      scale_sums(scaled, numbers, steps[layer.inputs[0]], inner);
    } else if (std::holds_alternative<Norm>(layer.what)) {
      scale_norm(scaled, numbers, steps[layer.inputs[0]]);
    } else if (std::holds_alternative<Product>(layer.what)) {
      const double factor =
          std::ldexp(numbers.output.scale, -static_cast<int>(numbers.output.shift));
      scaled.product_factor = static_cast<float>(factor * steps[value] / steps[layer.inputs[0]] /
                                                 steps[layer.inputs[1]]);
    }
    scaled.inner_step = static_cast<float>(inner);
    out.layers.push_back(std::move(scaled));
  }
  return out;
}

bool is_fully_connected(const Graph& graph, Value value) {
  const auto& layers = graph.layers();
  const auto* conv = std::get_if<Conv>(&layers[value].what);
  if (conv == nullptr || conv->shortcut != kNoValue || conv->groups != 1 || conv->pad != 0)
    return false;
  const Shape& in = graph.input_shape(layers[value]);
  if (conv->height != in.height || conv->width != in.width) return false;
  for (Value reader = value + 1; reader < layers.size(); ++reader) {
    const auto& inputs = layers[reader].inputs;
    if (std::find(inputs.begin(), inputs.end(), value) != inputs.end() &&
        !is_fully_connected(graph, reader))
      return false;
  }
  return true;
}

bool has_tokens(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(), [](const Layer& layer) {
    return std::holds_alternative<Product>(layer.what);
  });
}

}  // namespace network_models
