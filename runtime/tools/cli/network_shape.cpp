// SPDX-License-Identifier: MIT
#include "tools/cli/network_shape.hpp"

#include <utility>

#include "loadable/network_trace.hpp"
#include "tools/cli/program_shape.hpp"
#include "tools/cli/tensors.hpp"

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

}  // namespace nvdla::cli
