// SPDX-License-Identifier: MIT
#include "tools/cli/pictures/network_shape.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "loadable/read/loadable_impl.hpp"
#include "loadable/read/network_trace.hpp"
#include "tools/cli/input/tensors.hpp"
#include "tools/cli/pictures/program_shape.hpp"

namespace nvdla::cli {

NetworkShape network_shape(const Loadable& file, const nvdla_hw& hw) {
  using Kind = loadable::TracedBox::Kind;
  loadable::NetworkTrace trace = loadable::trace_network(file, hw);
  NetworkShape shape;
  shape.arrows = std::move(trace.arrows);
  std::uint32_t inputs = 0;
  for (loadable::TracedBox& from : trace.boxes) {
    NetworkBox& box = shape.boxes.emplace_back();
    box.name = std::move(from.name);
    box.tensor = std::move(from.tensor);
    if (from.kind == Kind::kInput) box.tensor = shape_text(file.input(inputs++));
    if (from.kind == Kind::kLayer) box.units = units_of(from.layer);
    if (from.kind == Kind::kCpu) box.units = {"cpu"};
  }
  return shape;
}

namespace {

std::string shape_of(const Shape& shape, Precision precision) {
  constexpr const char* kNames[] = {"int8", "int16", "fp16"};
  const auto name =
      static_cast<std::size_t>(precision) - static_cast<std::size_t>(Precision::kInt8);
  return fmt::format("{}{}x{}x{} {}", shape.batch > 1 ? fmt::format("{}x", shape.batch) : "",
                     shape.channels, shape.height, shape.width, kNames[name]);
}

}  // namespace

std::string about(const detail::UserLayer& layer) {
  std::string text = layer.kind;
  if (layer.kernel_height != 0)
    text += fmt::format(" {}x{}", layer.kernel_height, layer.kernel_width);
  if (layer.stride_height == layer.stride_width && layer.stride_height > 1)
    text += fmt::format(", stride {}", layer.stride_height);
  else if (layer.stride_height != layer.stride_width)
    text += fmt::format(", stride {}x{}", layer.stride_height, layer.stride_width);
  return text;
}

NetworkShape user_shape(const Loadable& file) {
  const loadable::UserTable& table = *file.impl().user;
  NetworkShape shape;
  std::uint32_t inputs = file.inputs();
  for (std::uint32_t i = 0; i < inputs; ++i) {
    NetworkBox& box = shape.boxes.emplace_back();
    box.name = fmt::format("input '{}'", file.input(i).name);
    box.tensor = shape_text(file.input(i));
  }
  const auto box_of = [&](std::uint32_t source) {
    const std::uint32_t input = source & ~detail::UserLayer::kInput;
    return input != source ? input : inputs + source;
  };
  for (const detail::UserLayer& layer : table.network.layers) {
    const auto number = static_cast<std::uint32_t>(shape.boxes.size());
    NetworkBox& box = shape.boxes.emplace_back();
    box.name = layer.name.empty() ? fmt::format("layer {}", number - inputs) : layer.name;
    box.about = about(layer);
    box.units = {layer.kind == "CPU" ? "cpu" : layer.kind};
    if (!layer.silent) box.tensor = shape_of(layer.output, layer.output_precision);
    for (const std::uint32_t step : layer.layers)
      box.steps += fmt::format("{}{}", box.steps.empty() ? "" : ", ", table.names[step]);
    if (box.steps.empty()) box.steps = "nothing is moved";
    std::set<std::uint32_t> sources;
    for (const std::uint32_t source : layer.sources) sources.insert(box_of(source));
    for (const std::uint32_t source : sources) shape.arrows.emplace_back(source, number);
  }
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    const auto number = static_cast<std::uint32_t>(shape.boxes.size());
    shape.boxes.emplace_back().name = fmt::format("output '{}'", file.output(i).name);
    if (i < table.network.outputs.size())
      shape.arrows.emplace_back(box_of(table.network.outputs[i]), number);
  }
  return shape;
}

}  // namespace nvdla::cli
