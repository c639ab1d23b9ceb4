// SPDX-License-Identifier: MIT
//
// Convolutions of well-known networks, each shape once, and how often its network has it. Layers of
// groups are those of one group; fully connected layers are convolutions with a result of one
// position. Depthwise layers are left out: a group of one channel fills neither library.
#pragma once

#include <cstdint>
#include <span>

namespace nvdla::bench {

struct ConvShape {
  const char* name;
  std::uint32_t count, side, channels, kernels, size, stride, pad;

  std::uint32_t out() const { return (side + 2 * pad - size) / stride + 1; }
  double macs() const {
    return static_cast<double>(out()) * out() * kernels * channels * size * size;
  }
};

struct NetworkShapes {
  const char* name;
  std::span<const ConvShape> convolutions;
};

std::span<const ConvShape> resnet50_shapes();

// MobileNetV1 as it runs, each layer from the one before it.
struct MobileNetLayer {
  std::uint32_t kernels, size, stride;
  bool depthwise;  // as many groups as channels
};
std::span<const MobileNetLayer> mobilenetv1_layers();

// ResNet-50, AlexNet, GoogLeNet, MobileNetV1 and LeNet-5. A shape that two of them have is named
// once.
std::span<const NetworkShapes> network_shapes();

}  // namespace nvdla::bench
