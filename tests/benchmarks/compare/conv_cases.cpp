// SPDX-License-Identifier: MIT
//
// Layers of networks in int8, scaled to int8 again: the model beside oneDNN with signed and with
// unsigned activations.
#include <cmath>
#include <string>

#include "compare/alike.hpp"
#include "compare/cases.hpp"
#include "compare/conv_layer.hpp"
#include "compare/ours.hpp"
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
  Convolution conv = layer_of(shape);
  conv.weights = kernels;
  conv.output = converter;
  Network network;
  const Tensor input = network.input("in", {shape.channels, shape.side, shape.side});
  network.output(network.convolution(input, conv), "out");
  return Ours(network, threads);
}

// The same from pixels of four bytes, of which the mean is taken off and the last one ignored.
Ours from_pixels(const ConvShape& shape, const Converter& converter, std::span<const float> weights,
                 std::span<const float> source) {
  constexpr std::int16_t kMean[] = {128, 128, 128, 0};
  const std::vector<std::int8_t> kernels = as<std::int8_t>(weights);
  Convolution conv = layer_of(shape);
  conv.weights = kernels;
  conv.output = converter;
  conv.input.mean = kMean;
  Network network;
  const Tensor image = network.image(
      "in", {.format = NVDLA_PIXEL_A8B8G8R8, .width = shape.side, .height = shape.side});
  network.output(network.convolution(image, conv), "out");
  const Ours model(network, 1);
  const std::size_t plane = std::size_t{shape.side} * shape.side;
  std::vector<std::byte> pixels(4 * plane);
  for (std::size_t i = 0; i < plane; ++i)
    for (std::size_t c = 0; c < shape.channels; ++c)
      pixels[4 * i + c] = static_cast<std::byte>(static_cast<int>(source[c * plane + i]) + 128);
  model.request().write_pixels("in", pixels);
  return model;
}

PeerConvolution peer_of(const ConvShape& shape, const Converter& converter) {
  Numbers numbers;
  PeerConvolution peer{.shape = shape};
  peer.source = numbers.integers(input_elements(shape), -128, 127);
  peer.weights = numbers.integers(weight_elements(shape), -128, 127);
  peer.scales = {
      std::ldexp(static_cast<float>(converter.scale), -static_cast<int>(converter.shift))};
  return peer;
}

// What is computed is the same but for ties, which are rounded otherwise.
void expect_same_layer(const Ours& model, const Operation& s8s8) {
  s8s8.run();
  expect_alike(model.output(), s8s8.output(), peer_is_exact() ? 1 : 4);
}

Case pixel_case(const ConvShape& shape) {
  const Converter converter = converter_of(shape);
  const PeerConvolution peer = peer_of(shape, converter);
  const Ours model = from_pixels(shape, converter, peer.weights, peer.source);
  const Operation s8s8 = convolution(peer);
  expect_same_layer(model, s8s8);
  Case one;
  one.sides = {model.side(), {"s8s8", [s8s8] { s8s8.run(); }}};
  one.macs = shape.macs();
  one.label = s8s8.name();
  return one;
}

Case convolution_case(const ConvShape& shape, unsigned threads) {
  const Converter converter = converter_of(shape);
  PeerConvolution peer = peer_of(shape, converter);
  const Ours model = ours(shape, converter, peer.weights, threads);
  model.write("in", peer.source);
  const Operation s8s8 = convolution(peer);
  expect_same_layer(model, s8s8);
  Case one;
  one.sides = {model.side(), {"s8s8", [s8s8] { s8s8.run(); }}};
  if (threads > 1) {
    const Ours alone = ours(shape, converter, peer.weights, 1);
    // The same activations: some kernels are quicker where none has a sign.
    alone.write("in", peer.source);
    one.sides.push_back(alone.side("ours, 1 thread"));
  }

  peer.numbers = PeerNumbers::kUnsigned;
  for (float& value : peer.source) value += 128;
  const Operation u8s8 = convolution(peer);
  one.sides.push_back({"u8s8", [u8s8] { u8s8.run(); }});
  one.macs = shape.macs();
  one.label = s8s8.name();
  return one;
}

}  // namespace

void add_convolution_cases(const Settings& settings) {
  for (const NetworkShapes& network : network_shapes())
    for (const ConvShape& shape : network.convolutions) {
      // One position has weights and little else: memory decides, and nothing is shared.
      const char* group = shape.out() == 1 ? "fc" : shape.channels <= 4 ? "first" : "conv";
      const std::string name = std::string(network.name) + " " + shape.name;
      for (const unsigned threads : {1U, 2U})
        for (const bool cold : {false, true})
          add_case(settings, {group, name, threads, cold},
                   [shape, threads] { return convolution_case(shape, threads); });
      if (shape.channels == 3)
        add_case(settings, {"pixels", name}, [shape] { return pixel_case(shape); });
    }
}

}  // namespace nvdla::bench
