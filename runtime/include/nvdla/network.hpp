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
#include <span>
#include <string_view>

#include "nvdla/device.hpp"
#include "nvdla/export.hpp"
#include "nvdla/layer.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// A tensor of a network; valid for the network that made it.
struct Tensor {
  std::uint32_t index = ~std::uint32_t{0};
};

// One SDP operator, X1 or X2:
//   y = (alu(x, a << alu_shift) * m) >> mul_shift, then ReLU (int32, halves away from zero).
// The number of values says what they are for: 1 for the layer, `channels` for channels,
// channels * height * width (CHW) for elements. When both parts are active both have the same
// number. PReLU multiplies negative values only and excludes the ALU.
struct Operator {
  nvdla_alu alu = NVDLA_ALU_NONE;  // MAX, MIN or SUM
  nvdla_mul mul = NVDLA_MUL_NONE;
  std::span<const std::int16_t> alu_values = {};
  std::span<const std::int16_t> mul_values = {};
  // Instead of values: the elements of another tensor of the same shape, for the one active part.
  Tensor tensor = {};
  std::uint32_t alu_shift = 0;  // 0..30
  std::uint32_t mul_shift = 0;  // 0..63, also without a multiplier
  bool relu = false;
};

// Sums of the operators above; the spans given must live until the layer is added.
inline Operator bias(std::span<const std::int16_t> values, std::uint32_t left_shift = 0) {
  Operator op;
  op.alu = NVDLA_ALU_SUM;
  op.alu_values = values;
  op.alu_shift = left_shift;
  return op;
}
inline Operator scale(std::span<const std::int16_t> values, std::uint32_t right_shift = 0) {
  Operator op;
  op.mul = NVDLA_MUL_MUL;
  op.mul_values = values;
  op.mul_shift = right_shift;
  return op;
}
// (x + shift[c] << left_shift) * scale[c] >> right_shift
inline Operator batch_norm(std::span<const std::int16_t> shifts,
                           std::span<const std::int16_t> scales, std::uint32_t right_shift,
                           std::uint32_t left_shift = 0) {
  Operator op = scale(scales, right_shift);
  op.alu = NVDLA_ALU_SUM;
  op.alu_values = shifts;
  op.alu_shift = left_shift;
  return op;
}
inline Operator prelu(std::span<const std::int16_t> slopes, std::uint32_t right_shift) {
  Operator op;
  op.mul = NVDLA_MUL_PRELU;
  op.mul_values = slopes;
  op.mul_shift = right_shift;
  return op;
}
inline Operator relu() {
  Operator op;
  op.relu = true;
  return op;
}
// alu: NVDLA_ALU_SUM, _MAX, _MIN with the elements of another tensor.
inline Operator elementwise(nvdla_alu alu, Tensor tensor, std::uint32_t left_shift = 0) {
  Operator op;
  op.alu = alu;
  op.tensor = tensor;
  op.alu_shift = left_shift;
  return op;
}
inline Operator multiply(Tensor tensor, std::uint32_t right_shift = 0) {
  Operator op;
  op.mul = NVDLA_MUL_MUL;
  op.tensor = tensor;
  op.mul_shift = right_shift;
  return op;
}

// int8 convolution. Everything is copied when the layer is added.
struct Convolution {
  std::string_view name = {};
  std::uint32_t kernels = 1;
  std::uint32_t kernel_height = 1;
  std::uint32_t kernel_width = 1;
  std::uint32_t stride_y = 1;
  std::uint32_t stride_x = 1;
  std::uint32_t dilation_y = 1;
  std::uint32_t dilation_x = 1;
  std::uint32_t pad_top = 0;
  std::uint32_t pad_bottom = 0;
  std::uint32_t pad_left = 0;
  std::uint32_t pad_right = 0;
  std::int32_t pad_value = 0;  // normally the zero point of the input
  // KCRS
  std::span<const std::int8_t> weights = {};
  // One per kernel or none, added to the accumulator exactly: X1 adds the high halves, X2 the low
  // ones, or X1 alone where all fit 16 bits (shifted left alike). Excludes operators that then
  // have no place: kInvalidArgument says which.
  std::span<const std::int32_t> bias = {};
  // Negative results become zero, in the last operator.
  bool relu = false;
  // Right shift of the accumulator before everything else, 0..16.
  std::uint32_t accumulator_shift = 0;
  // Further operators, after the bias.
  Operator x1 = {};
  Operator x2 = {};
  // int32 -> int8
  Converter output = {};
};

// SDP alone: operators on a tensor from memory.
struct Pointwise {
  std::string_view name = {};
  Operator x1 = {};
  Operator x2 = {};
  Converter output = {};
};

struct BuildOptions {
  // Count for every layer; Session::statistics() has the numbers.
  bool statistics = false;
};

class Session;

// Thread compatible. Throws kInvalidArgument when a layer is added that cannot be, naming layer
// and field; what depends on the device is checked by build().
class NVDLA_API Network {
 public:
  struct Impl;  // the library's own

  Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  Tensor input(std::string_view name, const Shape& shape, const Quantization& quantization = {});
  Tensor convolution(Tensor input, const Convolution& convolution);
  Tensor pointwise(Tensor input, const Pointwise& pointwise);
  // Names a tensor that the application reads.
  void output(Tensor tensor, std::string_view name, const Quantization& quantization = {});

  Shape shape(Tensor tensor) const;
  std::uint32_t layers() const noexcept;
  std::string_view layer_name(std::uint32_t layer) const;
  // int8 multiply-accumulates of one run.
  std::uint64_t macs() const noexcept;

  // One buffer per tensor and blob, weights packed, banks chosen, waits from data dependencies. A
  // convolution whose input does not fit the convolution buffer is cut into bands of lines, each a
  // layer of the session. Throws kInvalidProgram with the layer's name, kNotAvailable where lines
  // are too long even for that. The network may be dropped afterwards.
  Session build(const Device& device, const BuildOptions& options = {}) const;

 private:
  std::unique_ptr<Impl> impl_;
};

// A network on a device, with buffers of its own. Thread compatible: one run at a time; build
// several sessions to run several at once. Runs allocate no device memory.
class NVDLA_API Session {
 public:
  struct Impl;  // the library's own

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // A run that has not ended goes on; it holds what it needs.
  ~Session();

  std::uint32_t inputs() const noexcept;
  std::uint32_t outputs() const noexcept;
  std::string_view input_name(std::uint32_t index) const;
  std::string_view output_name(std::uint32_t index) const;
  // Where a tensor lies, by the name of an input or output. Throws kInvalidArgument listing the
  // names that there are.
  const TensorDesc& desc(std::string_view name) const;
  const Buffer& buffer(std::string_view name) const;
  // Uses a buffer of the application for an input or output from the next run on.
  void bind(std::string_view name, const Buffer& buffer);

  // Packs into an input; floats are quantised as the input says. Do not call during a run.
  void write(std::string_view name, Layout layout, std::span<const std::int8_t> source);
  void write(std::string_view name, Layout layout, std::span<const float> source);
  // Unpacks an output; floats are dequantised as the output says.
  void read(std::string_view name, Layout layout, std::span<std::int8_t> target) const;
  void read(std::string_view name, Layout layout, std::span<float> target) const;

  // Starts a run; the fence tells its end.
  Fence submit(const SubmitOptions& options = {});
  // submit() and wait().
  void run();

  // Layers as they run: bands of a convolution that was cut are called "conv 1/3", "conv 2/3", ...
  std::uint32_t layers() const noexcept;
  std::string_view layer_name(std::uint32_t layer) const;
  // Estimate of the worst case in device cycles.
  std::uint64_t layer_cycles(std::uint32_t layer) const;
  // int8 multiply-accumulates of one run of a layer.
  std::uint64_t layer_macs(std::uint32_t layer) const;
  // Of the last run that ended, one per layer; empty unless BuildOptions::statistics.
  std::span<const nvdla_layer_stats> statistics() const noexcept;

 private:
  friend class Network;
  friend struct detail::Handles;
  explicit Session(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_NETWORK_HPP
