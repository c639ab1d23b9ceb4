// SPDX-License-Identifier: MIT
#include "int8_network.hpp"

#include <stdexcept>
#include <string>

namespace digits {
namespace {

nvdla::Shape shape(const Shape& from) {
  return {.channels = static_cast<std::uint32_t>(from.channels),
          .height = static_cast<std::uint32_t>(from.height),
          .width = static_cast<std::uint32_t>(from.width)};
}

nvdla::Tensor add(nvdla::Network& network, nvdla::Tensor input, const Layer& layer) {
  // In accumulator units; the runtime chooses how SDP adds them.
  std::vector<std::int32_t> bias;
  bias.reserve(layer.bias.size());
  for (const std::int16_t value : layer.bias) {
    bias.push_back(std::int32_t{value} * (1 << layer.bias_shift));
  }
  return network.convolution(input,
                             {.name = layer.name,
                              .kernels = static_cast<std::uint32_t>(layer.output.channels),
                              .kernel_height = static_cast<std::uint32_t>(layer.kernel_height),
                              .kernel_width = static_cast<std::uint32_t>(layer.kernel_width),
                              .stride_height = static_cast<std::uint32_t>(layer.stride_height),
                              .stride_width = static_cast<std::uint32_t>(layer.stride_width),
                              .pad_top = static_cast<std::uint32_t>(layer.pad_top),
                              .pad_bottom = static_cast<std::uint32_t>(layer.pad_bottom),
                              .pad_left = static_cast<std::uint32_t>(layer.pad_left),
                              .pad_right = static_cast<std::uint32_t>(layer.pad_right),
                              .pad_value = layer.pad_value,
                              .weights = layer.weights,
                              .bias = bias,
                              .relu = layer.relu,
                              .output = {.offset = layer.out_offset,
                                         .scale = layer.out_scale,
                                         .shift = static_cast<std::uint32_t>(layer.out_shift)}});
}

}  // namespace

nvdla::Network describe(const Weights& weights) {
  nvdla::Network network;
  nvdla::Tensor tensor = network.input("picture", shape(weights.input),
                                       {.scale = static_cast<float>(weights.input_scale)});
  for (const Layer& layer : weights.layers) {
    tensor = add(network, tensor, layer);
  }
  network.output(tensor, "scores",
                 {.scale = static_cast<float>(weights.layers.back().output_scale)});
  return network;
}

Int8Network::Int8Network(const nvdla::Device& device, const Weights& weights,
                         const nvdla::BuildOptions& options)
    : pixels_(weights.input.elements()),
      classes_(weights.classes.size()),
      offset_(weights.input_offset),
      request_(describe(weights).build(device, options)) {}

std::vector<std::int8_t> Int8Network::scores(std::span<const std::uint8_t> pixels) {
  if (pixels.size() != pixels_) {
    throw std::invalid_argument("picture has " + std::to_string(pixels.size()) +
                                " pixels, the network takes " + std::to_string(pixels_));
  }
  input_.clear();
  for (const std::uint8_t pixel : pixels) {
    input_.push_back(static_cast<std::int8_t>(pixel - offset_));
  }
  request_.write("picture", nvdla::Layout::kNchw, std::span<const std::int8_t>(input_));
  request_.run();
  std::vector<std::int8_t> result(classes_);
  request_.read("scores", nvdla::Layout::kNchw, std::span<std::int8_t>(result));
  return result;
}

}  // namespace digits
