// SPDX-License-Identifier: MIT
//
// Networks: tensors and layers in, a session with buffers and a program out. Everything that a
// program needs and that follows from the network is worked out here: layouts, packing, banks,
// waits, slots.
//
//   nvdla::Network net;
//   auto image = net.input("image", {.channels = 1, .height = 28, .width = 28});
//   auto a = net.convolution(image, {.name = "conv1", .kernels = 8, ..., .weights = w1, .bias = b1,
//                                    .relu = true, .output = nvdla::requantize(0.01)});
//   net.output(a, "features");
//   nvdla::Session session = net.build(nvdla::Device::open("model:nv_full"));
//   session.write("image", nvdla::Layout::kNchw, pixels);
//   session.run();
//   session.read("features", nvdla::Layout::kNchw, features);
#ifndef NVDLA_NETWORK_HPP
#define NVDLA_NETWORK_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/compiled_network.hpp"
#include "nvdla/concatenation.hpp"
#include "nvdla/convolution.hpp"
#include "nvdla/cpu_operators.hpp"
#include "nvdla/deconvolution.hpp"
#include "nvdla/device.hpp"
#include "nvdla/export.hpp"
#include "nvdla/fully_connected.hpp"
#include "nvdla/image.hpp"
#include "nvdla/normalization.hpp"
#include "nvdla/operators.hpp"
#include "nvdla/pointwise.hpp"
#include "nvdla/pooling.hpp"
#include "nvdla/quantized.hpp"
#include "nvdla/quantized_elements.hpp"
#include "nvdla/reshape.hpp"
#include "nvdla/session.hpp"
#include "nvdla/slicing.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// Thread compatible. Throws kInvalidArgument when a layer is added that cannot be, naming layer
// and field; what depends on the device is checked by compile(). So do tensors that this network
// has not returned, and names: those of inputs and outputs are unique among both and not empty,
// those of layers are unique unless a layer has none. A network that was moved from refuses
// everything.
class NVDLA_API Network {
 public:
  struct Impl;  // the library's own

  Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  // A tensor that the application writes; int8 unless said otherwise. A batch is worked on cube by
  // cube where the hardware has nothing better: layers of a session, not of the network.
  Tensor input(std::string_view name, const Shape& shape, const Quantization& quantization = {});
  Tensor input(std::string_view name, const Shape& shape, Precision precision,
               const Quantization& quantization = {});
  // An image that the application writes: one for each run.
  Tensor image(std::string_view name, const ImageDesc& desc);
  // Planes, one a channel, for merge().
  Tensor planar_input(std::string_view name, const Shape& shape, Precision precision,
                      const Quantization& quantization = {});
  Tensor convolution(Tensor input, const Convolution& convolution);
  Tensor fully_connected(Tensor input, const FullyConnected& layer);
  Tensor matrix_product(Tensor input, const MatrixProduct& product);
  Tensor deconvolution(Tensor input, const Deconvolution& deconvolution);
  // The same with scales, from which operators and converters follow. The output is known to stand
  // for scales.output.
  Tensor convolution(Tensor input, const Convolution& convolution, const ConvolutionScales& scales);
  Tensor fully_connected(Tensor input, const FullyConnected& layer,
                         const ConvolutionScales& scales);
  Tensor matrix_product(Tensor input, const MatrixProduct& product,
                        const ConvolutionScales& scales);
  Tensor deconvolution(Tensor input, const Deconvolution& deconvolution,
                       const ConvolutionScales& scales);
  Tensor pointwise(Tensor input, const Pointwise& pointwise);
  // Of quantised tensors, element by element.
  Tensor add(Tensor a, Tensor b, const Addition& addition);
  Tensor multiply(Tensor a, Tensor b, const Multiplication& multiplication);
  Tensor activation(Tensor input, const Activation& activation);
  Tensor clamp(Tensor input, const Clamp& clamp);
  // The greater or the lesser of two elements, which are known to stand for the same.
  Tensor maximum(Tensor a, Tensor b, std::string_view name);
  Tensor minimum(Tensor a, Tensor b, std::string_view name);
  void compare(Tensor input, const Comparison& comparison);
  // The sums of a convolution after its X1 and X2, on the fly: they are written nowhere.
  void compare(Tensor input, const Convolution& convolution, const Comparison& comparison);
  Tensor pooling(Tensor input, const Pooling& pooling);
  Tensor average(Tensor input, const Average& average);
  Tensor normalization(Tensor input, const Normalization& normalization);
  Tensor contract(Tensor input, const Contraction& contraction);
  Tensor upsample(Tensor input, const Upsampling& upsampling);
  // A tensor as planes, one a channel, which applications and merge() read; and back.
  Tensor split(Tensor input, std::string_view name);
  Tensor merge(Tensor planes, std::string_view name);
  // The same elements in another place; see place().
  Tensor copy(Tensor input, std::string_view name);
  Tensor concatenate(std::span<const Tensor> parts, const Concatenation& concatenation);
  Tensor slice(Tensor input, const Slice& slice);
  Tensor pad(Tensor input, const Padding& padding);
  Tensor reshape(Tensor input, const Reshape& reshape);
  // What the CPU computes, see nvdla/cpu_operators.hpp.
  Tensor softmax(Tensor input, const Softmax& softmax);
  Tensor power(Tensor input, const Power& power);
  Tensor apply(Tensor input, const ElementFunction& function);
  Tensor layer_normalization(Tensor input, const LayerNormalization& normalization);
  Tensor product(Tensor a, Tensor b, const TensorProduct& product);
  Tensor argmax(Tensor input, const Argmax& argmax);
  Tensor transpose(Tensor input, const Transpose& transpose);
  // Names a tensor that the application reads. What is not said of its quantisation is what the
  // network knows, or that integers stand for themselves.
  void output(Tensor tensor, std::string_view name);
  void output(Tensor tensor, std::string_view name, const Quantization& quantization);

  // The memory that a tensor lies in, DRAM unless said otherwise. compile() throws kNotAvailable on
  // a device without it.
  void place(Tensor tensor, Memory memory);

  Shape shape(Tensor tensor) const;
  Precision precision(Tensor tensor) const;
  // What the elements stand for, where it is known: of inputs, of quantised layers, of what the CPU
  // computes, and of poolings, averages, copies, reorganisations, concatenations, slices, paddings,
  // reshapes and upsamplings of such tensors.
  std::optional<Quantization> quantization(Tensor tensor) const;
  std::uint32_t layers() const noexcept;
  std::string_view layer_name(std::uint32_t layer) const;
  // Multiply-accumulates of one run.
  std::uint64_t macs() const noexcept;

  // Weights packed and brought to the device, memory planned (CompiledNetwork::memory() tells how),
  // banks chosen, waits from data dependencies. A convolution whose input does not fit the
  // convolution buffer is cut into bands of lines, one with kernels too large for it into some
  // kernels at a time, each a layer of the compiled network. What is too much for one program, or
  // has layers of the CPU between, becomes several, one after the other. Throws kInvalidProgram
  // with the layer's name, kNotAvailable where lines are too long even for that. The network may be
  // dropped afterwards.
  CompiledNetwork compile(const Device& device, const BuildOptions& options = {}) const;
  // compile(), and a session on that.
  Session build(const Device& device, const BuildOptions& options = {}) const;

 private:
  friend struct detail::Handles;
  // Throw kInvalidArgument if the network was moved from.
  Impl& impl();
  const Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_NETWORK_HPP
