// SPDX-License-Identifier: MIT
//
// Elements through a table on the device model: one SDP or CDP layer, by the public interface.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_LUT_LAYER_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_LUT_LAYER_HPP

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "nvdla/nvdla.hpp"
#include "support/float.hpp"

namespace nvdla::test {

template <typename Element>
constexpr Precision precision_of() {
  if constexpr (std::is_same_v<Element, std::int8_t>) return Precision::kInt8;
  if constexpr (std::is_same_v<Element, std::int16_t>) return Precision::kInt16;
  return Precision::kFp16;
}

inline double number_of(std::uint16_t half) {
  return static_cast<double>(std::bit_cast<float>(fp::widen<fp::Fp32>(std::uint32_t{half})));
}

// Every pattern of an element.
template <typename Element>
std::vector<Element> every() {
  std::vector<Element> all(std::size_t{1} << (8 * sizeof(Element)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Element>(i);
  return all;
}

struct LutRun {
  nvdla_layer layer = {};
  nvdla_lut lut = {};
  nvdla_layer_stats statistics = {};  // of the last run
};

// An SDP layer that does nothing but look up, for elements of In and Out.
template <typename In, typename Out>
LutRun sdp_run(const Lut& lut) {
  LutRun run;
  run.layer = make_layer(make_sdp());
  run.layer.sdp.in_precision = static_cast<std::uint32_t>(precision_of<In>());
  // int8 results of int16 elements are computed as int8 are.
  run.layer.sdp.proc_precision = static_cast<std::uint32_t>(precision_of<Out>());
  run.layer.sdp.out_precision = static_cast<std::uint32_t>(precision_of<Out>());
  run.lut = lut.table();
  lut.apply(run.layer, 0);
  return run;
}

inline LutRun cdp_run(const Lut& lut) {
  LutRun run;
  run.layer.kind = NVDLA_LAYER_CDP;
  run.lut = lut.table();
  lut.apply(run.layer, 0);
  return run;
}

// `shape` has as many elements as `input`, by channel, line and column.
template <typename Out, typename In>
std::vector<Out> look_up(LutRun& run, const std::vector<In>& input, const Shape& shape) {
  static const Device device = Device::open("model:nv_full");
  const TensorDesc in = packed_tensor(device.info(), shape, precision_of<In>());
  const TensorDesc out = packed_tensor(device.info(), shape, precision_of<Out>());
  nvdla_layer layer = run.layer;
  const auto place = [&](auto& unit) {
    unit.width = shape.width;
    unit.height = shape.height;
    unit.channels = shape.channels;
    unit.input = tensor_surface(in, 0);
    unit.output = tensor_surface(out, 1);
  };
  if (layer.kind == NVDLA_LAYER_CDP) {
    place(layer.cdp);
  } else {
    place(layer.sdp);
  }
  const std::array slots = {make_slot(device.info(), tensor_bytes(in), NVDLA_SLOT_READ),
                            make_slot(device.info(), tensor_bytes(out), NVDLA_SLOT_WRITE)};
  ProgramDesc desc;
  desc.layers = {&layer, 1};
  desc.slots = slots;
  desc.luts = {&run.lut, 1};
  desc.statistics = true;
  const Program program = device.create_program(desc);
  const Buffer source = device.allocate(tensor_bytes(in));
  const Buffer target = device.allocate(tensor_bytes(out));
  pack(in, Layout::kNchw, input, source.map(MapMode::kWrite).bytes());
  const std::array bindings = {Binding(source), Binding(target)};
  const Fence fence = device.create_queue().submit(program, bindings);
  fence.wait();
  run.statistics = fence.statistics()[0];
  std::vector<Out> output(shape.elements());
  unpack(out, Layout::kNchw, target.map(MapMode::kRead).bytes(), output);
  return output;
}

// Lanes without padding; a power of two of at least 256 elements.
template <typename Out, typename In>
std::vector<Out> look_up(LutRun& run, const std::vector<In>& input) {
  const auto columns = static_cast<std::uint32_t>(input.size() / 256);
  return look_up<Out>(run, input, {.channels = 32, .height = 8, .width = columns});
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_LUT_LAYER_HPP
