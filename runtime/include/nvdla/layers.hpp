// SPDX-License-Identifier: MIT
//
// Networks layer by layer: what each layer left in memory, and the first element that another
// device computes otherwise.
//
//   session.visit_layers([](const nvdla::LayerTensor& t) {
//     std::vector<std::int8_t> elements(t.desc.shape.elements());
//     nvdla::unpack(t.desc, nvdla::Layout::kNchw, t.bytes, elements);
//     ...
//   });
//   if (const auto found = session.compare_layers(nvdla::Device::open("model:nv_small")))
//     std::puts(nvdla::describe(*found).c_str());
//
// Layers run one at a time, each as a program of its own. Those that take data or weights that an
// earlier convolution kept in the convolution buffer run together with it and all between, as what
// is in that buffer is gone when a program ends; their tensors come in their order afterwards.
// Where one of them writes over what another one wrote, they run once for each of them, from the
// same memory up to it, so each tensor is seen as its layer left it.
//
// Units of a layer that work on the fly, such as a convolution and the pooling after it, have one
// output in memory, that of the last unit: nothing between them can be seen, or compared.
#ifndef NVDLA_LAYERS_HPP
#define NVDLA_LAYERS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "nvdla/export.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// What a layer wrote. Strings and bytes live as long as the call that is given it.
struct LayerTensor {
  // Of `layer`: an operation of the CPU, between those of the device.
  static constexpr std::uint32_t kNoLayer = UINT32_MAX;

  std::uint32_t layer = 0;  // as layer_name() counts them
  std::string_view layer_name;
  std::string_view kind;  // the units of the layer: "conv+sdp", see layer_kind_name(); "cpu"
  std::string_view unit;  // the one that wrote it: "sdp", "pdp", "cdp", "rubik", "bdma"; "cpu"
  std::string_view name;  // what lies there: "output 'scores'", "layer 0 'conv1'", "memory 5"
  // The part that the layer wrote, from `bytes` on, with the strides of the whole. BDMA copies
  // bytes: a part is a cube of int8, or as the layer that made or reads it says.
  TensorDesc desc;
  std::uint64_t offset = 0;  // of `bytes` in the buffer
  // As Network::output() was told, or the loadable says; scale 1 of what is between layers.
  Quantization quantization = {};
  std::span<const std::byte> bytes;
};

using LayerVisitor = std::function<void(const LayerTensor& tensor)>;

// The first difference between two devices.
struct LayerDifference {
  // What differs.
  enum class Kind {
    kElement,  // of a tensor
    kOutside,  // a byte of the buffer that no layer of those that ran together writes
    kVerdict,  // a comparison (Network::compare()) ended otherwise
  };

  Kind kind = Kind::kElement;
  std::uint32_t layer = 0;
  std::string layer_name;
  std::string unit;
  std::string tensor;  // LayerTensor::name
  // kElement: coordinates of the first one in NCHW order.
  Precision precision = Precision::kInt8;
  std::uint32_t n = 0, c = 0, h = 0, w = 0;
  // kOutside: of the byte, in its buffer.
  std::uint64_t offset = 0;
  // On the device and on the reference: bits of the element, the byte, or whether
  // the comparison found a difference.
  std::uint32_t found = 0, expected = 0;
  // kElement: the same as real numbers.
  double found_value = 0, expected_value = 0;
  // How many elements, or bytes, differ, and of how many.
  std::uint64_t different = 0, elements = 0;
};

// One line, such as "layer 1 'conv2' (sdp): output 'features' differs at n 0, c 5, h 2, w 7: 0x7f
// (127), expected 0x7e (126); 12 of 1568 elements differ".
NVDLA_API std::string describe(const LayerDifference& difference);

}  // namespace nvdla

#endif  // NVDLA_LAYERS_HPP
