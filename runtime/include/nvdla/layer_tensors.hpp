// SPDX-License-Identifier: MIT
//
/// @file
/// Networks layer by layer: what each layer left in memory, and the first element that another
/// device computes otherwise.
///
/// @code
///   request.visit_layers([](const nvdla::LayerTensor& t) {
///     std::vector<std::int8_t> elements(t.desc.shape.elements());
///     nvdla::unpack(t.desc, nvdla::Layout::kNchw, t.bytes, elements);
///     ...
///   });
///   if (const auto found = request.compare_layers(nvdla::Device::open("model:nv_small")))
///     std::puts(nvdla::describe(*found).c_str());
/// @endcode
///
/// Layers run one at a time, each as a program of its own. Those that take data or weights that an
/// earlier convolution kept in the convolution buffer run together with it and all between, as what
/// is in that buffer is gone when a program ends; their tensors come in their order afterwards.
/// Where one of them writes over what another one wrote, they run once for each of them, from the
/// same memory up to it, so each tensor is seen as its layer left it.
///
/// Units of a layer that work on the fly, such as a convolution and the pooling after it, have one
/// output in memory, that of the last unit: nothing between them can be seen, or compared.
#ifndef NVDLA_LAYER_TENSORS_HPP
#define NVDLA_LAYER_TENSORS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {

/// A tensor that a layer wrote. Strings and bytes live as long as the call that is given it.
struct LayerTensor {
  /// Value of `layer` for an operation of the CPU, between those of the device.
  static constexpr std::uint32_t kNoLayer = UINT32_MAX;

  std::uint32_t layer = 0;      ///< as layer_name() counts them
  std::string_view layer_name;  ///< name of the layer
  std::string_view kind;  ///< the units of the layer: "conv+sdp", see layer_kind_name(); "cpu"
  std::string_view unit;  ///< the one that wrote it: "sdp", "pdp", "cdp", "rubik", "bdma"; "cpu"
  std::string_view name;  ///< what lies there: "output 'scores'", "layer 0 'conv1'", "memory 5"
  /// The part that the layer wrote, from `bytes` on, with the strides of the whole. BDMA copies
  /// bytes: a part is a cube of int8, or as the layer that made or reads it says.
  TensorDesc desc;
  std::uint64_t offset = 0;  ///< of `bytes` in the buffer
  /// The quantisation that Network::output() or the loadable states; scale 1 of tensors between
  /// layers.
  Quantization quantization = {};
  std::span<const std::byte> bytes;  ///< Memory of the tensor, from its first byte to its last.
};

/// Is called with each tensor that a layer wrote.
using LayerVisitor = std::function<void(const LayerTensor& tensor)>;

/// The first difference between two devices.
struct LayerDifference {
  /// The kinds of difference.
  enum class Kind {
    kElement,  ///< of a tensor
    kOutside,  ///< a byte of the buffer that no layer of those that ran together writes
    kVerdict,  ///< a comparison (Network::compare()) ended otherwise
  };

  Kind kind = Kind::kElement;  ///< Tells which of the members below are set.
  std::uint32_t layer = 0;     ///< number of the layer, or LayerTensor::kNoLayer
  std::string layer_name;      ///< name of the layer
  std::string unit;            ///< unit that wrote it, as LayerTensor::unit
  std::string tensor;          ///< LayerTensor::name
  /// kElement: coordinates of the first one in NCHW order.
  Precision precision = Precision::kInt8;
  std::uint32_t n = 0;  ///< cube
  std::uint32_t c = 0;  ///< channel
  std::uint32_t h = 0;  ///< line
  std::uint32_t w = 0;  ///< column
  /// kOutside: of the byte, in its buffer.
  std::uint64_t offset = 0;
  /// On the device and on the reference: bits of the element, the byte, or whether
  /// the comparison found a difference.
  std::uint32_t found = 0;
  std::uint32_t expected = 0;  ///< the same on the reference
  /// kElement: the same as real numbers.
  double found_value = 0;
  double expected_value = 0;  ///< the same on the reference
  /// kElement, kOutside: how many elements or bytes differ.
  std::uint64_t different = 0;
  std::uint64_t elements = 0;  ///< how many there are
};

/// One line, such as "layer 1 'conv2' (sdp): output 'features' differs at n 0, c 5, h 2, w 7: 0x7f
/// (127), expected 0x7e (126); 12 of 1568 elements differ".
NVDLA_API std::string describe(const LayerDifference& difference);

}  // namespace nvdla

#endif  // NVDLA_LAYER_TENSORS_HPP
