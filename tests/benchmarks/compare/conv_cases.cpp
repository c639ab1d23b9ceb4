// SPDX-License-Identifier: MIT
//
// Layers of networks in int8, scaled to int8 again: the model beside oneDNN with signed and with
// unsigned activations.
#include <cmath>

#include "compare/cases.hpp"
#include "compare/ours.hpp"
#include "network/shapes.hpp"
#include "peer/convolution.hpp"

namespace nvdla::bench {
namespace {

// Sums of so many random products are about as large as 40 when they are scaled.
Converter converter_of(const ConvShape& shape) {
  const double products = static_cast<double>(shape.channels) * shape.size * shape.size;
  return requantize(40 / (73.6 * 73.6 * std::sqrt(products)));
}

Ours ours(const ConvShape& shape, const Converter& converter, std::span<const float> weights,
          unsigned threads) {
  const std::vector<std::int8_t> kernels = as<std::int8_t>(weights);
  Convolution conv{.name = "conv",
                   .kernels = shape.kernels,
                   .kernel_height = shape.size,
                   .kernel_width = shape.size};
  conv.stride_x = conv.stride_y = shape.stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = shape.pad;
  conv.weights = kernels;
  conv.output = converter;
  Network network;
  const Tensor input = network.input("in", {shape.channels, shape.side, shape.side});
  network.output(network.convolution(input, conv), "out");
  return Ours(network, threads);
}

Case convolution_case(const ConvShape& shape, unsigned threads) {
  Numbers numbers;
  PeerConvolution peer{.shape = shape};
  peer.source = numbers.integers(std::size_t{shape.channels} * shape.side * shape.side, -128, 127);
  peer.weights = numbers.integers(
      std::size_t{shape.kernels} * shape.channels * shape.size * shape.size, -128, 127);
  const Converter converter = converter_of(shape);
  peer.scales = {
      std::ldexp(static_cast<float>(converter.scale), -static_cast<int>(converter.shift))};

  const Ours model = ours(shape, converter, peer.weights, threads);
  model.write("in", peer.source);
  const Operation s8s8 = convolution(peer);
  s8s8.run();
  // They round ties otherwise.
  expect_alike(model.output(), s8s8.output(), peer_is_exact() ? 1 : 4);

  peer.unsigned_source = true;
  for (float& value : peer.source) value += 128;
  const Operation u8s8 = convolution(peer);
  Case one;
  one.sides = {model.side(), {"s8s8", [s8s8] { s8s8.run(); }}, {"u8s8", [u8s8] { u8s8.run(); }}};
  if (threads > 1) {
    const Ours alone = ours(shape, converter, peer.weights, 1);
    one.sides.push_back(alone.side("ours, 1 thread"));
  }
  one.macs = shape.macs();
  one.label = s8s8.name();
  return one;
}

}  // namespace

void add_convolution_cases(const Settings& settings) {
  for (const NetworkShapes& network : network_shapes())
    for (const ConvShape& shape : network.convolutions)
      for (const unsigned threads : {1U, 2U})
        for (const bool cold : {false, true}) {
          // One position has weights and little else: memory decides, and nothing is shared.
          const char* group = shape.out() == 1 ? "fc" : shape.channels <= 4 ? "first" : "conv";
          add_case(settings, {group, std::string(network.name) + " " + shape.name, threads, cold},
                   [shape, threads] { return convolution_case(shape, threads); });
        }
}

}  // namespace nvdla::bench
