// SPDX-License-Identifier: MIT
//
// The numbers of a network: weights that are drawn, and scales that follow from what the layers
// compute on one image, as batch normalisation and quantisation leave them. Each result has about
// the same spread in each channel, so that no layer dies out or only saturates.
#ifndef NVDLA_EXAMPLES_NETWORKS_NUMBERS_HPP
#define NVDLA_EXAMPLES_NETWORKS_NUMBERS_HPP

#include <cstdint>
#include <functional>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

#include "graph.hpp"

namespace networks {

// Elements of a tensor: lines, columns, channels side by side.
using Integers = std::vector<std::int8_t>;

// Of a layer. What the hardware computes, v being a sum of products or an element:
//   Conv, Double, Norm
//               v = (v + bias) * factor >> factor_shift, in units of 2^-kFraction of a step
//               Conv with a shortcut: v += shortcut << kFraction
//               the activation; a leaky one is v * kLeak >> kLeakShift where v < 0, swish and
//               sigmoid are the table, a hard sigmoid is ReLU: its 1 / 2 is in the bias
//               v * output.scale >> output.shift
//   Scale       element * factor >> kFactorBits
//   Lrn         the table and the converters that go with it
// What the CPU computes:
//   Product     v * output.scale >> output.shift
//   Softmax     in steps of kProbability
//   LayerNorm   (x - mean) / deviation * gamma + beta, in steps of 1
struct Numbers {
  static constexpr std::uint32_t kFraction = 6;
  static constexpr std::int16_t kLeak = 26;  // a tenth
  static constexpr std::uint32_t kLeakShift = 8;
  static constexpr std::uint32_t kFactorBits = 7;

  std::vector<std::int8_t> weights;   // kernel, channel, line, column
  std::vector<std::int32_t> bias;     // 16 bits, shifted left alike
  std::vector<std::int16_t> factors;  // one a channel, as the biases
  std::uint32_t factor_shift = 0;
  nvdla::Converter output = {.scale = 1, .shift = kFraction};
  nvdla::Lut lut = {}, real_lut = {};  // the second for fp16
  std::vector<float> gamma, beta;
  double step = 1;  // of a Product
};

// A graph's numbers, and the result of each of its layers on the image that they were chosen by.
struct Network {
  Graph graph;
  std::vector<Numbers> numbers;
  std::vector<Integers> results;
};

// Is told what is being worked on.
using Say = std::function<void(const std::string& text)>;
inline void silent(const std::string& /*text*/) {}

// The same numbers for the same seed everywhere. Tables of fp16 are only made for that.
Network draw(const Graph& graph, std::uint64_t seed, nvdla::Precision precision,
             const Say& say = silent);

// What a step is worth before an activation, and behind it. A sigmoid gives factors.
double step_before(Activation activation);
double step_behind(Activation activation);

// What a step of each result is worth where an image has steps of 1 and weights have kWeightStep:
// a shortcut is added in its own steps.
inline constexpr double kWeightStep = 1 / 64.0;
inline constexpr double kProbability = 1 / 128.0;
std::vector<double> steps(const Network& network);
// Of a layer, those of the layers before being known.
double step_of(const Layer& layer, const Numbers& numbers, const std::vector<double>& before);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_NUMBERS_HPP
