// SPDX-License-Identifier: MIT
//
// Every unit but the convolution beside what oneDNN has for it: SDP, PDP, CDP, Rubik and BDMA.
#include <cmath>
#include <cstring>
#include <utility>

#include "compare/cases.hpp"
#include "compare/ours.hpp"
#include "peer/units.hpp"

namespace nvdla::bench {
namespace {

constexpr Shape kShape{64, 56, 56};
// What an element of a table's or a normalisation's operand is worth in int8.
constexpr float kStep = 1.0F / 16, kResultStep = 1.0F / 128;

// How far a result may be from the peer's.
struct Tolerance {
  double absolute = 0, part = 0;
};

// Of fp16: the last bit, and what the last bits of the operands leave where they nearly cancel.
constexpr Tolerance kHalfTolerance{0.01, 1.0 / 512};

PeerTensor tensor(const Shape& shape, Precision precision, std::uint32_t seed = 1) {
  Numbers numbers(seed);
  return {shape, precision,
          precision == Precision::kInt8 ? numbers.integers(shape.elements(), -128, 127)
                                        : numbers.halves(shape.elements(), 2)};
}

using Build = std::function<Tensor(Network& network, Tensor input, Tensor other)>;

// A network of one layer with up to two inputs.
struct Layer {
  PeerTensor input, other = {};
  Quantization in = {}, out = {};
  bool planes = false;  // come in
  Build build = {};
};

Case compare(const Layer& layer, const Operation& peer, const Tolerance& tolerance) {
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

Tolerance tolerance_of(Precision precision, double int8 = 0) {
  return precision == Precision::kInt8 ? Tolerance{int8, 0} : kHalfTolerance;
}

Case relu_case(Precision precision) {
  Layer layer{.input = tensor(kShape, precision)};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.pointwise(input, {.name = "relu", .x1 = nvdla::relu()});
  };
  return compare(layer, relu(layer.input), tolerance_of(precision));
}

// What batch normalisation leaves of a layer: a shift and a multiplier for each channel, and ReLU.
Case batch_norm_case(Precision precision) {
  constexpr std::uint32_t kShift = 8;
  const bool half = precision == Precision::kFp16;
  Numbers numbers(3);
  const auto shifts = numbers.integers(kShape.channels, -20, 20);
  auto factors = numbers.integers(kShape.channels, 200, 300);
  const auto shifts16 = as<std::int16_t>(shifts), factors16 = as<std::int16_t>(factors);
  for (float& factor : factors) factor = std::ldexp(factor, -static_cast<int>(kShift));
  Layer layer{.input = tensor(kShape, precision)};
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Pointwise pointwise{.name = "norm"};
    if (half) {
      pointwise.x1.alu = NVDLA_ALU_SUM;
      pointwise.x1.mul = NVDLA_MUL_MUL;
      pointwise.x1.alu_reals = shifts;
      pointwise.x1.mul_reals = factors;
    } else {
      pointwise.x1 = nvdla::batch_norm(shifts16, factors16, kShift);
    }
    pointwise.x1.relu = true;
    return network.pointwise(input, pointwise);
  };
  return compare(layer, batch_norm(layer.input, shifts, factors), tolerance_of(precision, 1));
}

Case add_case_of(Precision precision) {
  Layer layer{.input = tensor(kShape, precision), .other = tensor(kShape, precision, 2)};
  layer.build = [](Network& network, Tensor input, Tensor other) {
    return network.pointwise(input, {.name = "add", .x1 = elementwise(NVDLA_ALU_SUM, other)});
  };
  return compare(layer, add(layer.input, layer.other, 1), tolerance_of(precision));
}

// The other tensor has another scale.
Case scaled_add_case() {
  const Precision precision = Precision::kInt8;
  Layer layer{.input = tensor(kShape, precision), .other = tensor(kShape, precision, 2)};
  layer.build = [](Network& network, Tensor input, Tensor other) {
    Pointwise pointwise{.name = "add"};
    pointwise.y.alu = NVDLA_ALU_SUM;
    pointwise.y.tensor = other;
    pointwise.y.alu_converter = {.scale = 0x5000, .shift = 14};
    return network.pointwise(input, pointwise);
  };
  return compare(layer, add(layer.input, layer.other, 1.25F), tolerance_of(precision, 1));
}

Case multiply_case(Precision precision) {
  const bool half = precision == Precision::kFp16;
  Layer layer{.input = tensor(kShape, precision), .other = tensor(kShape, precision, 2)};
  layer.build = [half](Network& network, Tensor input, Tensor other) {
    return network.pointwise(input,
                             {.name = "multiply", .x1 = nvdla::multiply(other, half ? 0 : 7)});
  };
  return compare(layer, multiply(layer.input, layer.other, half ? 1 : kResultStep),
                 tolerance_of(precision, 1));
}

Case sigmoid_case(Precision precision) {
  const bool half = precision == Precision::kFp16;
  Layer layer{.input = tensor(kShape, precision)};
  LutFormat format{.precision = precision};
  if (!half) {
    for (float& value : layer.input.values) value *= kStep;
    layer.in.scale = format.input.scale = kStep;
    layer.out.scale = format.output.scale = kResultStep;
    format.input_bits = 8;
  }
  const Lut lut = lut::sigmoid(format);
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Pointwise pointwise{.name = "sigmoid"};
    lut.apply(pointwise);
    return network.pointwise(input, pointwise);
  };
  return compare(layer, sigmoid(layer.input), {half ? 1.0 / 256 : 1.5 * kResultStep});
}

Case pooling_case(Precision precision, bool average) {
  Layer layer{.input = tensor(kShape, precision)};
  const PeerPooling window{.average = average, .size = 3, .stride = 2, .pad = average ? 0U : 1U};
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Pooling pool{.name = "pool",
                 .method = average ? NVDLA_POOL_AVERAGE : NVDLA_POOL_MAX,
                 .kernel_height = window.size,
                 .kernel_width = window.size,
                 .stride_y = window.stride,
                 .stride_x = window.stride};
    pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = window.pad;
    return network.pooling(input, pool);
  };
  return compare(layer, pooling(layer.input, window), tolerance_of(precision, average ? 1 : 0));
}

Case normalization_case(Precision precision) {
  const bool half = precision == Precision::kFp16;
  const PeerNormalization norm{.size = 5, .alpha = 0.1F, .beta = 0.75F, .k = 1};
  Layer layer{.input = tensor(kShape, precision)};
  LutFormat format{.precision = precision};
  if (!half) {
    for (float& value : layer.input.values) value *= kStep;
    layer.in.scale = format.input.scale = kStep;
    layer.out.scale = format.output.scale = kStep;
  }
  const Lut lut = lut::lrn(norm.alpha, norm.beta, norm.k, norm.size, format, 16);
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Normalization normalization{.name = "lrn"};
    lut.apply(normalization);
    return network.normalization(input, normalization);
  };
  return compare(layer, normalization(layer.input, norm), {1.5 * lut.report().error + kStep / 2});
}

// Of numbers that any type of two bytes holds.
PeerTensor movable(const Shape& shape, Precision precision) {
  return {shape, precision, Numbers().integers(shape.elements(), -128, 127)};
}

// Channels of an atom of nv_full.
std::uint32_t block_of(Precision precision) { return precision == Precision::kInt8 ? 32 : 16; }

Case split_case(Precision precision) {
  Layer layer{.input = movable(kShape, precision)};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.split(input, "split");
  };
  return compare(layer, split(layer.input, block_of(precision)), {});
}

Case merge_case(Precision precision) {
  Layer layer{.input = movable(kShape, precision), .planes = true};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.merge(input, "merge");
  };
  return compare(layer, merge(layer.input, block_of(precision)), {});
}

Case contract_case(Precision precision) {
  constexpr std::uint32_t kStride = 2;
  const Shape shape{4 * kShape.channels, kShape.height / 2, kShape.width / 2};
  Layer layer{.input = movable(shape, precision)};
  layer.build = [](Network& network, Tensor input, Tensor) {
    return network.contract(input, {.name = "contract", .stride_y = kStride, .stride_x = kStride});
  };
  return compare(layer, contract(layer.input, kStride), {});
}

Case copy_case(Precision precision) {
  const PeerTensor input = tensor(kShape, precision);
  Network network;
  network.output(network.copy(network.input("in", kShape, precision), "copy"), "out");
  const Ours model(network, 1);
  model.write("in", input.values);
  expect_alike(model.output(), input.values, 0);
  const std::size_t bytes = kShape.elements() * precision_bytes(precision);
  Case one;
  one.sides = {
      model.side(),
      {"peer", [from = std::vector<char>(bytes, 1), to = std::vector<char>(bytes)]() mutable {
         std::memcpy(to.data(), from.data(), from.size());
         asm volatile("" : : "r"(to.data()) : "memory");
       }}};
  one.label = "memcpy";
  return one;
}

}  // namespace

void add_unit_cases(const Settings& settings) {
  const auto add = [&](const std::string& name, Case (*make)(Precision)) {
    for (const Precision precision : {Precision::kInt8, Precision::kFp16})
      bench::add_case(settings,
                      {"unit", name + (precision == Precision::kInt8 ? " int8" : " fp16")},
                      [make, precision] { return make(precision); });
  };
  add("copy", copy_case);
  add("relu", relu_case);
  add("shift, scale, relu", batch_norm_case);
  add("add", add_case_of);
  bench::add_case(settings, {"unit", "add by Y, converted int8"}, [] { return scaled_add_case(); });
  add("multiply", multiply_case);
  add("sigmoid", sigmoid_case);
  add("max pooling", [](Precision precision) { return pooling_case(precision, false); });
  add("average pooling", [](Precision precision) { return pooling_case(precision, true); });
  add("LRN", normalization_case);
  add("contract", contract_case);
  add("split", split_case);
  add("merge", merge_case);
}

}  // namespace nvdla::bench
