// SPDX-License-Identifier: MIT
#include "network/shapes.hpp"

namespace nvdla::bench {
namespace {

constexpr ConvShape kResNet50[] = {
    {"conv1", 1, 224, 3, 64, 7, 2, 3},
    {"conv2 reduce a", 1, 56, 64, 64, 1, 1, 0},
    {"conv2 reduce", 2, 56, 256, 64, 1, 1, 0},
    {"conv2 3x3", 3, 56, 64, 64, 3, 1, 1},
    {"conv2 expand", 4, 56, 64, 256, 1, 1, 0},  // one of them projects the shortcut
    {"conv3 reduce a", 1, 56, 256, 128, 1, 2, 0},
    {"conv3 reduce", 3, 28, 512, 128, 1, 1, 0},
    {"conv3 3x3", 4, 28, 128, 128, 3, 1, 1},
    {"conv3 expand", 4, 28, 128, 512, 1, 1, 0},
    {"conv3 project", 1, 56, 256, 512, 1, 2, 0},
    {"conv4 reduce a", 1, 28, 512, 256, 1, 2, 0},
    {"conv4 reduce", 5, 14, 1024, 256, 1, 1, 0},
    {"conv4 3x3", 6, 14, 256, 256, 3, 1, 1},
    {"conv4 expand", 6, 14, 256, 1024, 1, 1, 0},
    {"conv4 project", 1, 28, 512, 1024, 1, 2, 0},
    {"conv5 reduce a", 1, 14, 1024, 512, 1, 2, 0},
    {"conv5 reduce", 2, 7, 2048, 512, 1, 1, 0},
    {"conv5 3x3", 3, 7, 512, 512, 3, 1, 1},
    {"conv5 expand", 3, 7, 512, 2048, 1, 1, 0},
    {"conv5 project", 1, 14, 1024, 2048, 1, 2, 0},
    {"fc", 1, 1, 2048, 1000, 1, 1, 0},
};

constexpr ConvShape kAlexNet[] = {
    {"conv1", 1, 227, 3, 96, 11, 4, 0},  {"conv2", 2, 27, 48, 128, 5, 1, 2},
    {"conv3", 1, 13, 256, 384, 3, 1, 1}, {"conv4", 2, 13, 192, 192, 3, 1, 1},
    {"conv5", 2, 13, 192, 128, 3, 1, 1}, {"fc6", 1, 6, 256, 4096, 6, 1, 0},
    {"fc7", 1, 1, 4096, 4096, 1, 1, 0},  {"fc8", 1, 1, 4096, 1000, 1, 1, 0},
};

// The first layer and the 1x1 behind it are ResNet-50's. Of the inceptions those that differ most.
constexpr ConvShape kGoogLeNet[] = {
    {"conv2 3x3", 1, 56, 64, 192, 3, 1, 1}, {"3a 1x1", 1, 28, 192, 64, 1, 1, 0},
    {"3a 3x3", 1, 28, 96, 128, 3, 1, 1},    {"3a 5x5", 1, 28, 16, 32, 5, 1, 2},
    {"4a 1x1", 1, 14, 480, 192, 1, 1, 0},   {"4e 3x3", 1, 14, 160, 320, 3, 1, 1},
    {"4e 5x5", 1, 14, 32, 128, 5, 1, 2},    {"5b 1x1", 1, 7, 832, 384, 1, 1, 0},
    {"5b 3x3", 1, 7, 192, 384, 3, 1, 1},    {"fc", 1, 1, 1024, 1000, 1, 1, 0},
};

constexpr ConvShape kMobileNetV1[] = {
    {"conv1", 1, 224, 3, 32, 3, 2, 1},  {"pw2", 1, 112, 32, 64, 1, 1, 0},
    {"pw3", 1, 56, 64, 128, 1, 1, 0},   {"pw4", 1, 56, 128, 128, 1, 1, 0},
    {"pw5", 1, 28, 128, 256, 1, 1, 0},  {"pw6", 1, 28, 256, 256, 1, 1, 0},
    {"pw7", 1, 14, 256, 512, 1, 1, 0},  {"pw8", 5, 14, 512, 512, 1, 1, 0},
    {"pw13", 1, 7, 512, 1024, 1, 1, 0}, {"pw14", 1, 7, 1024, 1024, 1, 1, 0},
};

constexpr ConvShape kLeNet5[] = {
    {"conv1", 1, 28, 1, 20, 5, 1, 0},
    {"conv2", 1, 12, 20, 50, 5, 1, 0},
    {"ip1", 1, 4, 50, 500, 4, 1, 0},
    {"ip2", 1, 1, 500, 10, 1, 1, 0},
};

constexpr NetworkShapes kNetworks[] = {
    {"resnet50", kResNet50},       {"alexnet", kAlexNet}, {"googlenet", kGoogLeNet},
    {"mobilenetv1", kMobileNetV1}, {"lenet5", kLeNet5},
};

constexpr MobileNetLayer depthwise(std::uint32_t channels, std::uint32_t stride) {
  return {channels, 3, stride, true};
}
constexpr MobileNetLayer pointwise(std::uint32_t kernels) { return {kernels, 1, 1, false}; }

constexpr MobileNetLayer kMobileNetLayers[] = {
    {32, 3, 2, false},  depthwise(32, 1),  pointwise(64),     depthwise(64, 2),  pointwise(128),
    depthwise(128, 1),  pointwise(128),    depthwise(128, 2), pointwise(256),    depthwise(256, 1),
    pointwise(256),     depthwise(256, 2), pointwise(512),    depthwise(512, 1), pointwise(512),
    depthwise(512, 1),  pointwise(512),    depthwise(512, 1), pointwise(512),    depthwise(512, 1),
    pointwise(512),     depthwise(512, 1), pointwise(512),    depthwise(512, 2), pointwise(1024),
    depthwise(1024, 1), pointwise(1024),
};

}  // namespace

std::span<const ConvShape> resnet50_shapes() { return kResNet50; }
std::span<const MobileNetLayer> mobilenetv1_layers() { return kMobileNetLayers; }
std::span<const NetworkShapes> network_shapes() { return kNetworks; }

}  // namespace nvdla::bench
