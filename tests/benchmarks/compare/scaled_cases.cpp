// SPDX-License-Identifier: MIT
//
// Layers of quantised networks as frameworks have them: a scale and a bias of 32 bits for each
// kernel, and zero points of what comes in and goes out. Depthwise layers are MobileNetV1's.
#include <cmath>
#include <string>

#include "compare/alike.hpp"
#include "compare/cases.hpp"
#include "compare/conv_layer.hpp"
#include "compare/ours.hpp"
#include "network/random_network.hpp"
#include "peer/convolution.hpp"

namespace nvdla::bench {
namespace {

// Both tensors are behind a ReLU, which is the least element that there is.
constexpr int kZeroPoint = -128;

struct ScaledLayer {
  ConvShape shape;
  std::uint32_t groups = 1;

  double products() const {
    return static_cast<double>(shape.channels) / groups * shape.size * shape.size;
  }
};

// Sums of random products have this deviation, a scale brings them to 40 or so, and biases are as
// large as the sums.
PeerConvolution scaled_peer(const ScaledLayer& layer) {
  Numbers numbers(5);
  const double deviation = 147.8 * 73.6 * std::sqrt(layer.products());
  PeerConvolution peer{.shape = layer.shape, .groups = layer.groups};
  peer.source = numbers.integers(input_elements(layer.shape), -128, 127);
  peer.weights = numbers.integers(weight_elements(layer.shape) / layer.groups, -127, 127);
  const int most = static_cast<int>(deviation);
  peer.bias = numbers.integers(layer.shape.kernels, -most, most);
  peer.scales = numbers.integers(layer.shape.kernels, 750, 1250);
  for (float& scale : peer.scales) scale *= static_cast<float>(40 / (1000 * deviation));
  peer.source_zero_point = kZeroPoint;
  peer.result_zero_point = kZeroPoint;
  return peer;
}

Ours scaled_ours(const ScaledLayer& layer, const PeerConvolution& peer, unsigned threads) {
  const std::vector<std::int8_t> kernels = as<std::int8_t>(peer.weights);
  const std::vector<std::int32_t> bias = as<std::int32_t>(peer.bias);
  Convolution conv = layer_of(layer.shape);
  conv.groups = layer.groups;
  conv.weights = kernels;
  conv.bias = bias;
  const Quantization quantization{.scale = 1, .zero_point = kZeroPoint};
  Network network;
  const Tensor input =
      network.input("in", {layer.shape.channels, layer.shape.side, layer.shape.side}, quantization);
  network.output(network.convolution(input, conv, {.weights = peer.scales, .output = quantization}),
                 "out");
  Ours ours(network, threads);
  ours.request().write("in", Layout::kNchw, as<std::int8_t>(peer.source));
  return ours;
}

Case scaled_case(const ScaledLayer& layer, unsigned threads) {
  PeerConvolution peer = scaled_peer(layer);
  const Ours model = scaled_ours(layer, peer, threads);
  const Operation s8s8 = convolution(peer);
  s8s8.run();
  // Floats are elements without their zero point.
  std::vector<float> expected = s8s8.output();
  for (float& value : expected) value -= kZeroPoint;
  expect_alike(model.output(), expected, peer_is_exact() ? 1 : 4);
  Case one;
  one.sides = {model.side(), {"s8s8", [s8s8] { s8s8.run(); }}};
  // The same reals without a sign have no zero point.
  peer.numbers = PeerNumbers::kUnsigned;
  peer.source_zero_point = 0;
  for (float& value : peer.source) value -= kZeroPoint;
  const Operation u8s8 = convolution(peer);
  one.sides.push_back({"u8s8", [u8s8] { u8s8.run(); }});
  one.macs = layer.shape.macs() / layer.groups;
  one.label = s8s8.name();
  return one;
}

void add_scaled(const Settings& settings, const std::string& name, const ScaledLayer& layer) {
  for (const unsigned threads : {1U, 2U})
    add_case(settings, {"scaled", name, threads},
             [layer, threads] { return scaled_case(layer, threads); });
}

}  // namespace

void add_scaled_cases(const Settings& settings) {
  for (const NetworkShapes& network : network_shapes())
    for (const ConvShape& shape : network.convolutions)
      add_scaled(settings, std::string(network.name) + " " + shape.name, {shape});
  std::uint32_t side = RandomNetwork::kInput.height, channels = RandomNetwork::kInput.channels;
  std::string last;
  for (const MobileNetLayer& layer : mobilenetv1_layers()) {
    const std::string name = "mobilenetv1 dw " + std::to_string(channels) + " @" +
                             std::to_string(side) + (layer.stride == 2 ? " s2" : "");
    // Its five equal layers are measured once.
    if (layer.depthwise && name != last) {
      add_scaled(settings, name,
                 {{"depthwise", 1, side, channels, layer.kernels, layer.size, layer.stride,
                   layer.size / 2},
                  channels});
      last = name;
    }
    side /= layer.stride;
    channels = layer.kernels;
  }
}

}  // namespace nvdla::bench
