// SPDX-License-Identifier: MIT
#include "graph.hpp"

#include <utility>

namespace networks {
namespace {

std::uint32_t windows(std::uint32_t side, std::uint32_t size, std::uint32_t stride) {
  return (side - size) / stride + 1;
}

}  // namespace

Value Graph::add(Layer layer) {
  layers_.push_back(std::move(layer));
  return static_cast<Value>(layers_.size() - 1);
}

Value Graph::conv(Value input, const std::string& name, const Conv& conv) {
  const Shape& in = shape(input);
  const Shape out{.channels = conv.kernels,
                  .height = windows(in.height + 2 * conv.pad, conv.height, conv.stride),
                  .width = windows(in.width + 2 * conv.pad, conv.width, conv.stride)};
  std::vector<Value> inputs = {input};
  if (conv.shortcut != kNoValue) inputs.push_back(conv.shortcut);
  return add({name, inputs, conv, out});
}

Value Graph::doubled(Value input, const std::string& name, std::uint32_t kernels) {
  const Shape& in = shape(input);
  return add({name,
              {input},
              Double{kernels},
              {.channels = kernels, .height = 2 * in.height, .width = 2 * in.width}});
}

Value Graph::full(Value input, const std::string& name, std::uint32_t results,
                  Activation activation) {
  const Shape& in = shape(input);
  return conv(
      input, name,
      {.kernels = results, .height = in.height, .width = in.width, .activation = activation});
}

Value Graph::pool(Value input, const std::string& name, const Pool& pool) {
  const Shape& in = shape(input);
  const std::uint32_t pads = pool.pad + pool.pad_end;
  const Shape out{.channels = in.channels,
                  .height = windows(in.height + pads, pool.size, pool.stride),
                  .width = windows(in.width + pads, pool.size, pool.stride)};
  return add({name, {input}, pool, out});
}

Value Graph::max_pool(Value input, const std::string& name, std::uint32_t size,
                      std::uint32_t stride, std::uint32_t pad, std::uint32_t pad_end) {
  return pool(input, name, {NVDLA_POOL_MAX, size, stride, pad, pad_end});
}

Value Graph::average(Value input, const std::string& name, std::uint32_t size) {
  return pool(input, name, {NVDLA_POOL_AVERAGE, size, size});
}

Value Graph::lrn(Value input, const std::string& name, const Lrn& lrn) {
  return add({name, {input}, lrn, shape(input)});
}

Value Graph::norm(Value input, const std::string& name) {
  return add({name, {input}, Norm{}, shape(input)});
}

Value Graph::concat(std::span<const Value> parts, const std::string& name) {
  Shape out = shape(parts[0]);
  out.channels = 0;
  for (const Value part : parts) out.channels += shape(part).channels;
  return add({name, {parts.begin(), parts.end()}, Concat{}, out});
}

Value Graph::scale(Value input, Value factors, const std::string& name) {
  return add({name, {input, factors}, Scale{}, shape(input)});
}

Value Graph::slice(Value input, const std::string& name, std::uint32_t first,
                   std::uint32_t channels) {
  Shape out = shape(input);
  out.channels = channels;
  return add({name, {input}, Slice{first}, out});
}

Value Graph::product(Value a, Value b, const std::string& name, bool transposed) {
  Shape out = shape(a);
  out.channels = transposed ? shape(b).height * shape(b).width : shape(b).channels;
  return add({name, {a, b}, Product{transposed}, out});
}

Value Graph::softmax(Value input, const std::string& name) {
  return add({name, {input}, Softmax{}, shape(input)});
}

Value Graph::layer_norm(Value input, const std::string& name) {
  return add({name, {input}, LayerNorm{}, shape(input)});
}

Value Graph::gelu(Value input, const std::string& name) {
  return add({name, {input}, Gelu{}, shape(input)});
}

std::uint64_t Graph::taps(const Layer& layer) const {
  if (const auto* conv = std::get_if<Conv>(&layer.what))
    return std::uint64_t{conv->height} * conv->width * (input_shape(layer).channels / conv->groups);
  return std::holds_alternative<Double>(layer.what) ? input_shape(layer).channels : 0;
}

std::uint64_t Graph::weights() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers_) {
    const bool up = std::holds_alternative<Double>(layer.what);
    sum += taps(layer) * layer.shape.channels * (up ? 4 : 1);
  }
  return sum;
}

std::uint64_t Graph::macs() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers_) {
    const bool product = std::holds_alternative<Product>(layer.what);
    sum += (product ? input_shape(layer).channels : taps(layer)) * layer.shape.elements();
  }
  return sum;
}

Activation activation_of(const Layer& layer) {
  if (const auto* conv = std::get_if<Conv>(&layer.what)) return conv->activation;
  return std::holds_alternative<Norm>(layer.what) ? Activation::kRelu : Activation::kNone;
}

bool has_table(Activation activation) {
  return activation == Activation::kSwish || activation == Activation::kSigmoid;
}

}  // namespace networks
