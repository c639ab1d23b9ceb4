// SPDX-License-Identifier: MIT
//
// Convolutions in int16 and fp16, as exact as the hardware's, on one thread, and in fp16 as fast as
// plain floats. oneDNN's in floats is beside them for the numbers: it has none that is exact.
#include <cmath>
#include <string>

#include "compare/alike.hpp"
#include "compare/cases.hpp"
#include "compare/conv_layer.hpp"
#include "compare/ours.hpp"
#include "peer/convolution.hpp"

namespace nvdla::bench {
namespace {

constexpr ConvShape kInt16Shape{"3x3", 1, 28, 128, 128, 3, 1, 1};
// Exact sums of fp16 take fifty times as long.
constexpr ConvShape kHalfShape{"3x3", 1, 14, 64, 64, 3, 1, 1};
constexpr ConvShape kFastHalfShape{"3x3", 1, 28, 128, 128, 3, 1, 1};

Case exact_case(const ConvShape& shape, const Network& network, const PeerConvolution& conv,
                double tolerance, const std::string& options = {}) {
  const Ours model(network, 1, options);
  model.write("in", conv.source);
  const Operation peer = convolution(conv);
  peer.run();
  expect_alike(model.output(), peer.output(), tolerance);
  Case one;
  one.sides = {model.side(), {"f32", [peer] { peer.run(); }}};
  one.macs = shape.macs();
  one.label = peer.name();
  return one;
}

Case int16_case() {
  const ConvShape& shape = kInt16Shape;
  Numbers numbers;
  PeerConvolution peer{.shape = shape, .numbers = PeerNumbers::kFloat};
  peer.source = numbers.integers(input_elements(shape), -32768, 32767);
  peer.weights = numbers.integers(weight_elements(shape), -32768, 32767);
  // Sums of 1152 random products, brought to what 32 bits and then 16 bits hold.
  constexpr std::uint32_t kAccumulatorShift = 6, kShift = 15;
  const auto weights = as<std::int16_t>(peer.weights);
  for (float& weight : peer.weights)
    weight = std::ldexp(weight, -static_cast<int>(kAccumulatorShift + kShift));
  Convolution conv = layer_of(shape);
  conv.weights = weights;
  conv.arithmetic.accumulator_shift = kAccumulatorShift;
  conv.output = {.scale = 1, .shift = kShift};
  Network network;
  const Shape input{shape.channels, shape.side, shape.side};
  network.output(network.convolution(network.input("in", input, Precision::kInt16), conv), "out");
  return exact_case(shape, network, peer, 2);
}

Case half_case_of(const ConvShape& shape, const std::string& options) {
  Numbers numbers;
  PeerConvolution peer{.shape = shape, .numbers = PeerNumbers::kFloat};
  peer.source = numbers.halves(input_elements(shape), 1);
  peer.weights = numbers.halves(weight_elements(shape), 0.05);
  Convolution conv = layer_of(shape);
  conv.weights = std::span<const float>(peer.weights);
  Network network;
  const Shape input{shape.channels, shape.side, shape.side};
  network.output(network.convolution(network.input("in", input, Precision::kFp16), conv), "out");
  return exact_case(shape, network, peer, 0.01, options);
}

Case half_case() { return half_case_of(kHalfShape, {}); }
Case fast_half_case() { return half_case_of(kFastHalfShape, ",fp16=fast"); }

}  // namespace

void add_exact_cases(const Settings& settings) {
  add_case(settings, {"exact", "int16"}, int16_case);
  add_case(settings, {"exact", "fp16"}, half_case);
  add_case(settings, {"exact", "fp16 fast"}, fast_half_case);
}

}  // namespace nvdla::bench
