// SPDX-License-Identifier: MIT
//
// BDMA and Rubik, which move elements and change none.
#include <benchmark/benchmark.h>

#include <cstring>

#include "compare/alike.hpp"
#include "compare/unit_layer.hpp"

namespace nvdla::bench {
namespace {

// Of numbers that any type of two bytes holds.
PeerTensor movable(const Shape& shape, Precision precision) {
  return {shape, precision, Numbers().integers(shape.elements(), -128, 127)};
}

// Channels of an atom of nv_full.
std::uint32_t block_of(Precision precision) { return precision == Precision::kInt8 ? 32 : 16; }

Case split_case(Precision precision) {
  UnitLayer layer{.input = movable(kUnitShape, precision)};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.split(input, "split");
  };
  return unit_case(layer, split(layer.input, block_of(precision)), {});
}

Case merge_case(Precision precision) {
  UnitLayer layer{.input = movable(kUnitShape, precision), .planes = true};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.merge(input, "merge");
  };
  return unit_case(layer, merge(layer.input, block_of(precision)), {});
}

Case contract_case(Precision precision) {
  constexpr std::uint32_t kStride = 2;
  const Shape shape{4 * kUnitShape.channels, kUnitShape.height / 2, kUnitShape.width / 2};
  UnitLayer layer{.input = movable(shape, precision)};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.contract(
        input, {.name = "contract", .stride_height = kStride, .stride_width = kStride});
  };
  return unit_case(layer, contract(layer.input, kStride), {});
}

Case copy_case(Precision precision) {
  const PeerTensor input = unit_tensor(kUnitShape, precision);
  Network network;
  network.output(network.copy(network.input("in", kUnitShape, precision), "copy"), "out");
  const Ours model(network, 1);
  model.write("in", input.values);
  expect_alike(model.output(), input.values, 0);
  const std::size_t bytes = kUnitShape.elements() * precision_bytes(precision);
  Case one;
  one.sides = {
      model.side(),
      {"peer", [from = std::vector<char>(bytes, 1), to = std::vector<char>(bytes)]() mutable {
         std::memcpy(to.data(), from.data(), from.size());
         benchmark::DoNotOptimize(to.data());
         benchmark::ClobberMemory();
       }}};
  one.label = "memcpy";
  return one;
}

}  // namespace

void add_move_cases(const Settings& settings) {
  add_unit(settings, "copy", copy_case);
  add_unit(settings, "contract", contract_case);
  add_unit(settings, "split", split_case);
  add_unit(settings, "merge", merge_case);
}

}  // namespace nvdla::bench
