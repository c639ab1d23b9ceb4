// SPDX-License-Identifier: MIT
//
// Chooses the numbers of a network: weights at random, and scales from the results of the layers
// for one image, as batch normalisation and quantisation do. Each channel of each result has about
// the same deviation, so that no layer vanishes or mostly saturates.
#ifndef NVDLA_EXAMPLES_NETWORKS_NUMBERS_HPP
#define NVDLA_EXAMPLES_NETWORKS_NUMBERS_HPP

#include <cstdint>
#include <functional>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

#include "graph.hpp"

namespace networks {

// The elements of a tensor in the order line, column, channel.
using Integers = std::vector<std::int8_t>;

// `Numbers` has the numbers of a layer. The hardware computes, from a sum of products or an element
// v:
//   Conv, Double, Norm
//               v = (v + bias) * factor >> factor_shift, in units of 2^-kFraction of a step
//               Conv with a shortcut: v += shortcut << kFraction
//               the activation; a leaky one is v * kLeak >> kLeakShift where v < 0, swish and
//               sigmoid are the table, a hard sigmoid is ReLU: its 1 / 2 is in the bias
//               v * output.scale >> output.shift
//   Scale       element * factor >> kFactorBits
//   Lrn         the table and the converters that go with it
// The CPU computes:
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
  std::vector<std::int16_t> factors;  // one per channel, as the biases
  std::uint32_t factor_shift = 0;
  nvdla::Converter output = {.scale = 1, .shift = kFraction};
  nvdla::Lut lut = {}, real_lut = {};  // the second for fp16
  std::vector<float> gamma, beta;
  double step = 1;  // of a Product
};

// A graph with its numbers, and each layer's result for the image that they were chosen with.
struct Network {
  Graph graph;
  std::vector<Numbers> numbers;
  std::vector<Integers> results;
};

// A callback that reports the current work.
using Say = std::function<void(const std::string& text)>;
inline void silent(const std::string& /*text*/) {}

// Chooses the numbers of a graph; a seed gives the same numbers on every machine. fp16 tables are
// only made for fp16.
Network draw(const Graph& graph, std::uint64_t seed, nvdla::Precision precision,
             const Say& say = silent);

// Return the value of a step before and after an activation. A sigmoid's results are factors.
double step_before(Activation activation);
double step_behind(Activation activation);

// Returns the value of a step of each result, for an image with steps of 1 and weights with
// kWeightStep. A shortcut is added in its own steps.
inline constexpr double kWeightStep = 1 / 64.0;
inline constexpr double kProbability = 1 / 128.0;
std::vector<double> steps(const Network& network);
// Returns the step of a layer, given those of the layers before it.
double step_of(const Layer& layer, const Numbers& numbers, const std::vector<double>& before);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_NUMBERS_HPP
