// SPDX-License-Identifier: MIT
#include "compare/unit_layer.hpp"

#include <utility>

#include "compare/alike.hpp"

namespace nvdla::bench {

PeerTensor unit_tensor(const Shape& shape, Precision precision, std::uint32_t seed) {
  Numbers numbers(seed);
  return {shape, precision,
          precision == Precision::kInt8 ? numbers.integers(shape.elements(), -128, 127)
                                        : numbers.halves(shape.elements(), 2)};
}

Tolerance unit_tolerance(Precision precision, double int8) {
  if (precision == Precision::kInt8) return {int8, 0};
  return {0.01, 1.0 / 512};
}

UnitLayer layer_of_two(Precision precision) {
  return {.input = unit_tensor(kUnitShape, precision),
          .other = unit_tensor(kUnitShape, precision, 2)};
}

LutFormat table_format(UnitLayer& layer, float result_step) {
  LutFormat format{.precision = layer.input.precision};
  if (format.precision == Precision::kFp16) return format;
  for (float& value : layer.input.values) value *= kUnitStep;
  layer.in.scale = format.input.scale = kUnitStep;
  layer.out.scale = format.output.scale = result_step;
  return format;
}

Case unit_case(const UnitLayer& layer, const Operation& peer, const Tolerance& tolerance) {
  Network network;
  const auto add = [&](const char* name, const PeerTensor& tensor) {
    return layer.planes ? network.planar_input(name, tensor.shape, tensor.precision, layer.in)
                        : network.input(name, tensor.shape, tensor.precision, layer.in);
  };
  const bool two = !layer.other.values.empty();
  const Tensor input = add("in", layer.input);
  const Tensor other = two ? add("other", layer.other) : Tensor{};
  network.output(layer.build(network, input, other), "out", layer.out);
  const Ours model(network, 1);
  model.write("in", layer.input.values);
  if (two) model.write("other", layer.other.values);
  peer.run();
  expect_alike(model.output(), peer.output(), tolerance.absolute, tolerance.part);
  Case one;
  one.sides = {model.side(), {"peer", [peer] { peer.run(); }}};
  one.label = peer.name();
  return one;
}

void add_unit(const Settings& settings, const std::string& name, Case (*make)(Precision)) {
  for (const Precision precision : {Precision::kInt8, Precision::kFp16})
    add_case(settings, {"unit", name + (precision == Precision::kInt8 ? " int8" : " fp16")},
             [make, precision] { return make(precision); });
}

}  // namespace nvdla::bench
