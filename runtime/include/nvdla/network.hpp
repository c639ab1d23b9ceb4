// SPDX-License-Identifier: MIT
//
/// @file
/// Networks: tensors and layers in, a request with buffers and a program out. Everything that a
/// program needs and that follows from the network is worked out here: layouts, packing, banks,
/// waits, slots.
///
/// @code
///   nvdla::Network net;
///   auto image = net.input("image", {.channels = 1, .height = 28, .width = 28});
///   auto a = net.convolution(image, {.name = "conv1", .kernels = 8, ..., .weights = weights,
///                                    .relu = true, .output = nvdla::requantize(0.01)});
///   net.output(a, "features");
///   nvdla::Request request = net.build(nvdla::Device::open("model:nv_full"));
///   request.write("image", nvdla::Layout::kNchw, pixels);
///   request.run();
///   request.read("features", nvdla::Layout::kNchw, features);
/// @endcode
#ifndef NVDLA_NETWORK_HPP
#define NVDLA_NETWORK_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/build_options.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/device.hpp"
#include "nvdla/operators/concatenation.hpp"
#include "nvdla/operators/convolution.hpp"
#include "nvdla/operators/cpu_operators.hpp"
#include "nvdla/operators/deconvolution.hpp"
#include "nvdla/operators/fully_connected.hpp"
#include "nvdla/operators/functions.hpp"
#include "nvdla/operators/normalization.hpp"
#include "nvdla/operators/pointwise.hpp"
#include "nvdla/operators/pooling.hpp"
#include "nvdla/operators/quantized.hpp"
#include "nvdla/operators/quantized_elements.hpp"
#include "nvdla/operators/requantization.hpp"
#include "nvdla/operators/reshape.hpp"
#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/operators/slicing.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/request.hpp"
#include "nvdla/session.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {

/// A network that is described layer by layer; thread compatible. Throws kInvalidArgument when a
/// layer is added that cannot be, naming layer and field; what depends on the device is checked by
/// compile(). So do tensors that this network has not returned, and names: those of inputs and
/// outputs are unique among both and not empty, those of layers are unique unless a layer has none.
/// A network that was moved from refuses everything.
class NVDLA_API Network {
 public:
  struct Impl;  ///< the library's own

  Network();                                    ///< An empty network.
  Network(Network&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Network& operator=(Network&&) noexcept;       ///< Moves; the source is empty afterwards.
  Network(const Network&) = delete;             ///< There is one owner.
  Network& operator=(const Network&) = delete;  ///< There is one owner.
  ~Network();                                   ///< Releases what it refers to.

  /// Adds an int8 tensor that the application writes. A batch is worked on cube by
  /// cube where the hardware has nothing better: layers of the compiled network, not of this one.
  Tensor input(std::string_view name, const Shape& shape, const Quantization& quantization = {});
  /// The same in another precision. fp16 elements have a scale and no zero point.
  Tensor input(std::string_view name, const Shape& shape, Precision precision,
               const Quantization& quantization = {});
  /// Adds an image that the application writes: one for each run.
  Tensor image(std::string_view name, const ImageDesc& desc);
  /// Adds planes that the application writes, one a channel, for merge().
  Tensor planar_input(std::string_view name, const Shape& shape, Precision precision,
                      const Quantization& quantization = {});
  /// Adds a convolution. `input` has the channels of the kernels, or is an image. The result has
  /// `convolution.kernels` channels; its height is (pad_top + height + pad_bottom - (kernel_height
  /// - 1) * dilation_height - 1) / stride_height + 1, rounded down, and so is its width. Throws
  /// kInvalidArgument for a size that does not fit, naming it.
  Tensor convolution(Tensor input, const Convolution& convolution);
  /// Adds a product of all elements of `input` with a matrix; the result has `layer.outputs`
  /// channels at one position.
  Tensor fully_connected(Tensor input, const FullyConnected& layer);
  /// Adds a product of the channels of each position with a matrix; the result has
  /// `product.columns` channels at the positions of `input`.
  Tensor matrix_product(Tensor input, const MatrixProduct& product);
  /// Adds a transposed convolution; the height of the result is (height - 1) * stride_height +
  /// kernel_height - pad_top - pad_bottom + extra_bottom, and so is its width.
  Tensor deconvolution(Tensor input, const Deconvolution& deconvolution);
  /// The same with scales, from which operators and converters follow. The output is known to stand
  /// for scales.output.
  Tensor convolution(Tensor input, const Convolution& convolution, const ConvolutionScales& scales);
  /// The same with scales, as of a convolution: int8 weights and a 32-bit bias of the framework.
  Tensor fully_connected(Tensor input, const FullyConnected& layer,
                         const ConvolutionScales& scales);
  /// The same with scales, as of a convolution.
  Tensor matrix_product(Tensor input, const MatrixProduct& product,
                        const ConvolutionScales& scales);
  /// The same with scales, as of a convolution; they choose `deconvolution.zero_point`, too.
  Tensor deconvolution(Tensor input, const Deconvolution& deconvolution,
                       const ConvolutionScales& scales);
  /// Adds SDP operators on each element; the result has the shape of `input`.
  Tensor pointwise(Tensor input, const Pointwise& pointwise);
  /// Adds the sum or difference of two quantised int8 tensors of one shape, element by element.
  Tensor add(Tensor a, Tensor b, const Addition& addition);
  /// Adds the product of two quantised int8 tensors, element by element. `b` has the shape of `a`,
  /// or a single position and as many channels.
  Tensor multiply(Tensor a, Tensor b, const Multiplication& multiplication);
  /// Adds a function of each element of a quantised int8 tensor; the result has its shape.
  Tensor activation(Tensor input, const Activation& activation);
  /// Holds the elements of a quantised int8 tensor to bounds; the result has its shape, scale and
  /// zero point.
  Tensor clamp(Tensor input, const Clamp& clamp);
  /// Adds the greater of two elements, of tensors of one shape with the same scale and zero point.
  Tensor maximum(Tensor a, Tensor b, std::string_view name);
  /// Adds the lesser of two elements, as maximum() adds the greater. `name` may be empty.
  Tensor minimum(Tensor a, Tensor b, std::string_view name);
  /// Compares each element with a value or with another tensor; only a counter of the layer reports
  /// the verdict.
  void compare(Tensor input, const Comparison& comparison);
  /// Compares the sums of a convolution after its X1 and X2, on the fly: they are written nowhere.
  void compare(Tensor input, const Convolution& convolution, const Comparison& comparison);
  /// Adds the largest, smallest or average element of a window; the result keeps channels, scale
  /// and zero point.
  Tensor pooling(Tensor input, const Pooling& pooling);
  /// Adds averages that are rounded once, of a window or of all positions; the result keeps
  /// channels, scale and zero point.
  Tensor average(Tensor input, const Average& average);
  /// Adds a local response normalisation over neighbouring channels; the result has the shape and
  /// precision of `input`.
  Tensor normalization(Tensor input, const Normalization& normalization);
  /// Moves channels to positions; the result has stride_height * stride_width times the positions
  /// and as many times fewer channels.
  Tensor contract(Tensor input, const Contraction& contraction);
  /// Repeats each element scale_height x scale_width times.
  Tensor upsample(Tensor input, const Upsampling& upsampling);
  /// Makes planes of a tensor, one a channel, which applications and merge() read.
  Tensor split(Tensor input, std::string_view name);
  /// Makes a feature cube of planes that split() or planar_input() returned, of the same shape and
  /// precision.
  Tensor merge(Tensor planes, std::string_view name);
  /// Copies a tensor, so that it can have another place; see place().
  Tensor copy(Tensor input, std::string_view name);
  /// Puts two tensors or more side by side, in their order. Throws kInvalidArgument if sizes of the
  /// other axes or precisions differ.
  Tensor concatenate(std::span<const Tensor> parts, const Concatenation& concatenation);
  /// Takes some channels, lines or columns of a tensor.
  Tensor slice(Tensor input, const Slice& slice);
  Tensor pad(Tensor input, const Padding& padding);  ///< Adds a border around a tensor.
  /// Gives the elements of a tensor another shape of as many, in the order CHW.
  Tensor reshape(Tensor input, const Reshape& reshape);
  /// Adds a softmax over the channels of each position, on the CPU; see
  /// nvdla/operators/cpu_operators.hpp for this and the layers below.
  Tensor softmax(Tensor input, const Softmax& softmax);
  /// Adds (shift + scale * x)^power of each element, on the CPU.
  Tensor power(Tensor input, const Power& power);
  /// Adds a function of each element, on the CPU, in any precision.
  Tensor apply(Tensor input, const ElementFunction& function);
  /// Adds a layer normalisation over the channels of each position, on the CPU.
  Tensor layer_normalization(Tensor input, const LayerNormalization& normalization);
  /// Adds a normalisation of each channel over its positions, on the CPU.
  Tensor instance_normalization(Tensor input, const InstanceNormalization& normalization);
  /// Adds the product of two tensors as matrices, on the CPU: rows are positions, columns channels.
  Tensor product(Tensor a, Tensor b, const TensorProduct& product);
  /// Adds the channel of the greatest element of each position, on the CPU; the result has one
  /// channel.
  Tensor argmax(Tensor input, const Argmax& argmax);
  Tensor transpose(Tensor input, const Transpose& transpose);  ///< Exchanges axes, on the CPU.
  /// Names a tensor that the application reads. Its quantisation is what the network knows, or that
  /// integers stand for themselves.
  void output(Tensor tensor, std::string_view name);
  /// The same with the scale and zero point that the elements have for the application.
  void output(Tensor tensor, std::string_view name, const Quantization& quantization);

  /// Chooses the memory that a tensor lies in, which is DRAM otherwise. compile() throws
  /// kNotAvailable on a device without it.
  void place(Tensor tensor, Memory memory);

  Shape shape(Tensor tensor) const;          ///< Returns the size of a tensor in elements.
  Precision precision(Tensor tensor) const;  ///< Returns the type of a tensor's elements.
  /// Returns scale and zero point of a tensor where they are known: of inputs, of quantised layers,
  /// of what the CPU computes, and of poolings, averages, copies, reorganisations, concatenations,
  /// slices, paddings, reshapes and upsamplings of such tensors.
  std::optional<Quantization> quantization(Tensor tensor) const;
  std::uint32_t layers() const noexcept;  ///< Returns the number of layers that were added.
  /// Returns the name of a layer in the order in which they were added. Throws kInvalidArgument
  /// past the end.
  std::string_view layer_name(std::uint32_t layer) const;
  /// Returns the multiply-accumulates of one run.
  std::uint64_t macs() const noexcept;

  /// Packs weights and brings them to the device, plans memory (CompiledNetwork::memory() reports
  /// it), chooses banks and derives waits from data. A convolution whose input does not fit the
  /// convolution buffer is cut into bands of lines, one with kernels too large for it into some
  /// kernels at a time, each a layer of the compiled network. What is too much for one program, or
  /// has layers of the CPU between, becomes several, one after the other. Throws kInvalidProgram
  /// with the layer's name, kNotAvailable where lines are too long even for that. The network may
  /// be dropped afterwards.
  CompiledNetwork compile(const Device& device, const BuildOptions& options = {}) const;
  /// Compiles and returns a request of the compiled network.
  Request build(const Device& device, const BuildOptions& options = {}) const;

 private:
  friend struct detail::Handles;
  /// Throw kInvalidArgument if the network was moved from.
  Impl& impl();
  const Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_NETWORK_HPP
