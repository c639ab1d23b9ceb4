// SPDX-License-Identifier: MIT
#include "device/layer_cuts.hpp"

#include <algorithm>
#include <optional>

#include "device/layer_outputs.hpp"

namespace nvdla::detail {
namespace {

bool write_over_each_other(const ProgramDesc& program, std::uint32_t first, std::uint32_t last,
                           std::uint32_t atom) {
  WrittenBytes before;
  for (std::uint32_t layer = first; first != last && layer <= last; ++layer) {
    const std::vector<LayerOutput> outputs = layer_outputs(program, layer, atom);
    for (const LayerOutput& output : outputs)
      if (before.any_of(output)) return true;
    for (const LayerOutput& output : outputs) before.add(output);
  }
  return false;
}

}  // namespace

std::vector<LayerCut> cut_layers(const ProgramDesc& program, std::uint32_t atom) {
  const auto count = static_cast<std::uint32_t>(program.layers.size());
  // Groups of layers that have to run together, because the later ones reuse data or weights of the
  // first one in the convolution buffer.
  std::vector<LayerCut> together;
  std::optional<std::uint32_t> convolution;
  for (std::uint32_t i = 0; i < count; ++i) {
    together.push_back({i, i, i, false});
    const nvdla_conv& conv = program.layers[i].conv;
    if (conv.kernels == 0) continue;
    if ((conv.flags & (NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS)) != 0 && convolution) {
      while (together.back().first > *convolution) together.pop_back();
      together.back().last = i;
    }
    convolution = i;
  }
  std::vector<LayerCut> cuts;
  for (const LayerCut& group : together) {
    if (!write_over_each_other(program, group.first, group.last, atom)) {
      cuts.push_back(group);
      continue;
    }
    for (std::uint32_t last = group.first; last <= group.last; ++last)
      cuts.push_back({group.first, last, last, last != group.first});
  }
  return cuts;
}

ProgramDesc cut_program(const ProgramDesc& program, const LayerCut& cut,
                        std::vector<nvdla_layer>& layers) {
  const auto part = program.layers.subspan(cut.first, cut.last - cut.first + 1);
  layers.assign(part.begin(), part.end());
  for (nvdla_layer& layer : layers) {
    std::uint32_t waits = 0;
    for (std::uint32_t i = 0; i < layer.num_waits; ++i) {
      if (layer.waits[i] >= cut.first) layer.waits[waits++] = layer.waits[i] - cut.first;
    }
    std::fill(layer.waits + waits, layer.waits + NVDLA_MAX_WAITS, 0U);
    layer.num_waits = waits;
  }
  ProgramDesc desc = program;
  desc.layers = layers;
  desc.statistics = true;
  return desc;
}

}  // namespace nvdla::detail
