// SPDX-License-Identifier: MIT
//
// Random graphs of int8 layers, some of which the CPU computes: branches that meet again in sums
// and concatenations, tensors that are read late, outputs in the middle. What every tensor holds is
// worked out beside the network in plain integers.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_RANDOM_GRAPH_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_RANDOM_GRAPH_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/runtime/reference.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::test {

// `Source` has pick(low, high).
template <typename Source>
class RandomGraph {
 public:
  // Of layers that the device has.
  RandomGraph(Source& source, const DeviceInfo& info, int most_layers = 30)
      : source_(source), copies_(info.has_bdma) {
    const int inputs = any(1, 2);
    for (int i = 0; i < inputs; ++i) add_input();
    const int layers = any(1, most_layers);
    while (static_cast<int>(net_.layers()) < layers) add_layer();
    name_outputs();
  }

  const Network& network() const { return net_; }

  // What is wrong with two runs on `device`; empty if nothing is.
  std::string wrong(const Device& device) const { return wrong(net_.build(device)); }
  std::string wrong(Request request) const {
    for (int run = 0; run < 2; ++run) {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        request.write("in" + std::to_string(i), Layout::kNchw, nodes_[inputs_[i]].cube.data);
      request.run();
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const std::string name = "out" + std::to_string(i);
        const Int8& expected = nodes_[outputs_[i]].cube;
        std::vector<std::int8_t> found(expected.data.size());
        request.read(name, Layout::kNchw, std::span(found));
        if (found != expected.data)
          return name + " of " + std::to_string(net_.layers()) + " layers, run " +
                 std::to_string(run);
      }
    }
    return {};
  }

 private:
  struct Node {
    Tensor tensor;
    Int8 cube;
    bool made = false;  // by a layer
  };

  static constexpr std::size_t kMostElements = 4000;

  int any(int low, int high) { return static_cast<int>(source_.pick(low, high)); }
  bool one_in(int n) { return any(0, n - 1) == n - 1; }
  std::string name() { return "layer" + std::to_string(net_.layers()); }

  std::vector<std::int8_t> values(std::size_t count, int reach) {
    return random_values<std::int8_t>(count, static_cast<std::uint32_t>(any(0, 1 << 30)), -reach,
                                      reach);
  }

  void add(Tensor tensor, Int8 cube) { nodes_.push_back({tensor, std::move(cube), true}); }

  void add_input() {
    // Braces keep the order in which numbers are drawn, whatever the compiler.
    Int8 cube{any(1, 40), any(1, 9), any(1, 9)};
    cube.data = values(cube.data.size(), 127);
    inputs_.push_back(nodes_.size());
    const Tensor tensor = net_.input("in" + std::to_string(inputs_.size() - 1), shape_of(cube));
    nodes_.push_back({tensor, std::move(cube)});
  }

  static Shape shape_of(const Int8& cube) {
    return {static_cast<std::uint32_t>(cube.c), static_cast<std::uint32_t>(cube.h),
            static_cast<std::uint32_t>(cube.w)};
  }

  // Mostly young ones, so that others die; now and then one that has waited long.
  const Node& pick_node() {
    const int count = static_cast<int>(nodes_.size());
    return nodes_[static_cast<std::size_t>(any(one_in(5) ? 0 : std::max(0, count - 4), count - 1))];
  }

  // A copy: adding one moves them.
  std::vector<Node> same_but(const Int8& like, bool c, bool h, bool w) const {
    std::vector<Node> list;
    for (const Node& node : nodes_) {
      if ((c || node.cube.c == like.c) && (h || node.cube.h == like.h) &&
          (w || node.cube.w == like.w))
        list.push_back(node);
    }
    return list;
  }

  void add_layer() {
    const Node in = pick_node();
    switch (any(0, 14)) {
      case 0:
      case 1:
        return add_convolution(in);
      case 2:
        return add_pooling(in);
      case 3:
        return add_sum(in);
      case 4:
        return add_concatenation(in);
      case 5:
        if (copies_) add(net_.copy(in.tensor, name()), in.cube);
        return;
      case 6:
        return add_slice(in);
      case 7:
        return add_padding(in);
      case 8:
        return add_channels(in);
      case 9:
        return add_column(in);
      case 10:
        return add_product(in);
      case 11:
        return add_transpose(in);
      case 12:
        return add_reshape(in);
      case 13:
        return add_average(in);
      default:
        return add_pointwise(in);
    }
  }

  // Any of the tensors that are like `cube`, or none.
  Tensor partner(const Int8& like, Int8& cube) {
    const std::vector<Node> list = same_but(like, false, false, false);
    if (list.empty() || one_in(2)) return {};
    const Node& node = list[static_cast<std::size_t>(any(0, static_cast<int>(list.size()) - 1))];
    cube = node.cube;
    return node.tensor;
  }

  void add_convolution(const Node& in) {
    const int size = std::min({1 + 2 * any(0, 1), in.cube.h + 2, in.cube.w + 2});
    Geometry g;
    g.left = g.right = g.top = g.bottom = size / 2;
    g.stride_width = g.stride_height = one_in(4) ? 2 : 1;
    g.pad_value = any(-3, 3);
    // Groups of as many channels as kernels, or one.
    const int groups = one_in(3) ? divisor(in.cube.c) : 1;
    const int kernels = groups == 1 && one_in(4) ? any(1, 70) : in.cube.c;
    const int channels = in.cube.c / groups;
    const auto weights = values(static_cast<std::size_t>(kernels * channels * size * size), 40);
    std::vector<std::int32_t> bias;
    for (int k = 0; k < kernels; ++k) bias.push_back(any(-3000, 3000));
    const std::string layer = name();
    Convolution c{.name = layer, .kernels = static_cast<std::uint32_t>(kernels)};
    c.groups = static_cast<std::uint32_t>(groups);
    c.kernel_height = c.kernel_width = static_cast<std::uint32_t>(size);
    c.stride_height = c.stride_width = static_cast<std::uint32_t>(g.stride_width);
    c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = static_cast<std::uint32_t>(size / 2);
    c.pad_value = g.pad_value;
    c.weights = std::span<const std::int8_t>(weights);
    c.bias = bias;
    c.output = {
        .offset = any(-200, 200), .scale = static_cast<std::int16_t>(any(50, 99)), .shift = 13};
    Int32 sums = convolve(in.cube, dense(weights, in.cube.c, channels, kernels, size * size),
                          kernels, size, size, g);
    for (std::size_t i = 0; i < sums.data.size(); ++i)
      sums.data[i] += bias[i / (sums.data.size() / static_cast<std::size_t>(kernels))];
    Int8 shortcut;
    if (const Tensor tensor = partner(Int8(sums.c, sums.h, sums.w), shortcut)) {
      c.x2 = elementwise(NVDLA_ALU_SUM, tensor, 7);
      for (std::size_t i = 0; i < sums.data.size(); ++i)
        sums.data[i] += static_cast<std::int32_t>(shortcut.data[i]) * 128;
    }
    c.relu = one_in(3);
    if (c.relu)
      for (std::int32_t& sum : sums.data) sum = std::max(sum, 0);
    add(net_.convolution(in.tensor, c),
        convert(sums, c.output.offset, c.output.scale, c.output.shift));
  }

  int divisor(int number) {
    int found = any(1, number);
    while (number % found != 0) --found;
    return found;
  }

  // Kernels that see all channels, those of other groups with zeros.
  static std::vector<std::int8_t> dense(const std::vector<std::int8_t>& weights, int all,
                                        int channels, int kernels, int taps) {
    std::vector<std::int8_t> wide(static_cast<std::size_t>(kernels * all * taps));
    const int kernels_of_group = kernels / (all / channels);
    for (int k = 0; k < kernels; ++k) {
      const int first = k / kernels_of_group * channels;
      std::copy_n(weights.begin() + k * channels * taps, channels * taps,
                  wide.begin() + (k * all + first) * taps);
    }
    return wide;
  }

  void add_pointwise(const Node& in) {
    const bool channels = one_in(2);
    std::vector<std::int16_t> scales, shifts;
    for (int c = 0; c < (channels ? in.cube.c : 1); ++c) {
      scales.push_back(static_cast<std::int16_t>(any(-90, 90)));
      shifts.push_back(static_cast<std::int16_t>(any(-90, 90)));
    }
    const std::string layer = name();
    Pointwise p{.name = layer};
    p.x1 = batch_norm(shifts, scales, 5);
    p.output.offset = any(-5, 5);
    Int32 out = widen(in.cube);
    const std::size_t area = out.data.size() / static_cast<std::size_t>(out.c);
    for (std::size_t i = 0; i < out.data.size(); ++i) {
      const std::size_t at = channels ? i / area : 0;
      out.data[i] = apply(out.data[i], 3, shifts[at], 0, 1, scales[at], 5, false);
    }
    add(net_.pointwise(in.tensor, p), convert(out, p.output.offset, 1, 0));
  }

  void add_sum(const Node& in) {
    Int8 other;
    const Tensor tensor = partner(in.cube, other);
    if (!tensor) return;
    const std::string layer = name();
    Pointwise p{.name = layer};
    p.x1 = elementwise(NVDLA_ALU_SUM, tensor);
    p.x1.relu = one_in(2);
    Int32 out = widen(in.cube);
    for (std::size_t i = 0; i < out.data.size(); ++i)
      out.data[i] = apply(out.data[i], 3, other.data[i], 0, 0, 0, 0, p.x1.relu);
    add(net_.pointwise(in.tensor, p), convert(out, 0, 1, 0));
  }

  // Each channel by a factor that follows from all of a tensor's.
  void add_channels(const Node& in) {
    const std::vector<Node> list = same_but(in.cube, false, true, true);
    const Node of = list[static_cast<std::size_t>(any(0, static_cast<int>(list.size()) - 1))];
    const std::string most = name();
    Pooling p{.name = most, .method = NVDLA_POOL_MAX};
    p.kernel_height = static_cast<std::uint32_t>(of.cube.h);
    p.kernel_width = static_cast<std::uint32_t>(of.cube.w);
    Int8 factors(of.cube.c, 1, 1);
    for (int c = 0; c < of.cube.c; ++c) factors.at(c, 0, 0) = pooled_all(of.cube, c);
    add(net_.pooling(of.tensor, p), factors);
    const std::string layer = name();
    Int32 out = widen(in.cube);
    const std::size_t area = out.data.size() / static_cast<std::size_t>(out.c);
    for (std::size_t i = 0; i < out.data.size(); ++i)
      out.data[i] = apply(out.data[i], 0, 0, 0, 1, factors.data[i / area], 6, false);
    const Tensor by = nodes_.back().tensor;
    add(net_.pointwise(in.tensor, {.name = layer, .x1 = multiply(by, 6)}), convert(out, 0, 1, 0));
  }

  static std::int8_t pooled_all(const Int8& in, int c) {
    const std::ptrdiff_t area = std::ptrdiff_t{in.h} * in.w;
    return *std::max_element(in.data.begin() + c * area, in.data.begin() + (c + 1) * area);
  }

  void add_pooling(const Node& in) {
    const int size = std::min({any(1, 3), in.cube.h, in.cube.w}), pad = size == 3 ? 1 : 0;
    const std::string layer = name();
    Pooling p{.name = layer};
    p.method = static_cast<nvdla_pool>(any(NVDLA_POOL_AVERAGE, NVDLA_POOL_MIN));
    p.kernel_height = p.kernel_width = static_cast<std::uint32_t>(size);
    p.stride_height = p.stride_width = static_cast<std::uint32_t>(any(1, 2));
    p.pad_top = p.pad_left = static_cast<std::uint32_t>(pad);
    const int stride = static_cast<int>(p.stride_height);
    Int8 out(in.cube.c, (in.cube.h + pad - size) / stride + 1,
             (in.cube.w + pad - size) / stride + 1);
    for (int c = 0; c < out.c; ++c)
      for (int y = 0; y < out.h; ++y)
        for (int x = 0; x < out.w; ++x)
          out.at(c, y, x) = pooled(in.cube, p, c, y * stride - pad, x * stride - pad);
    add(net_.pooling(in.tensor, p), std::move(out));
  }

  static std::int8_t pooled(const Int8& in, const Pooling& p, int c, int top, int left) {
    const int size = static_cast<int>(p.kernel_height);
    std::int64_t sum = 0;
    int least = 127, greatest = -128;
    for (int y = std::max(top, 0); y < top + size; ++y) {
      for (int x = std::max(left, 0); x < left + size; ++x) {
        const int value = in.at(c, y, x);
        sum += value;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
      }
    }
    if (p.method == NVDLA_POOL_MAX) return static_cast<std::int8_t>(greatest);
    if (p.method == NVDLA_POOL_MIN) return static_cast<std::int8_t>(least);
    const std::int64_t reciprocal = 65536 / size;
    const auto by_width = static_cast<std::int64_t>(round_shift(sum * reciprocal, 16));
    return static_cast<std::int8_t>(saturate(round_shift(by_width * reciprocal, 16), 8));
  }

  void add_concatenation(const Node& in) {
    const int axis = any(0, 2);
    const std::vector<Node> fit = same_but(in.cube, axis == 0, axis == 1, axis == 2);
    std::vector<Node> parts = {in};
    for (int more = any(1, 3); more > 0; --more)
      parts.push_back(fit[static_cast<std::size_t>(any(0, static_cast<int>(fit.size()) - 1))]);
    std::size_t elements = 0;
    for (const Node& part : parts) elements += part.cube.data.size();
    if (elements > kMostElements) return;
    Int8 out(in.cube.c, in.cube.h, in.cube.w);
    int Int8::*const size = axis == 0 ? &Int8::c : axis == 1 ? &Int8::h : &Int8::w;
    int sum = 0;
    for (const Node& part : parts) sum += part.cube.*size;
    (axis == 0 ? out.c : axis == 1 ? out.h : out.w) = sum;
    out = Int8(out.c, out.h, out.w);
    int at = 0;
    std::vector<Tensor> tensors;
    for (const Node& part : parts) {
      for (int c = 0; c < part.cube.c; ++c)
        for (int y = 0; y < part.cube.h; ++y)
          for (int x = 0; x < part.cube.w; ++x)
            out.at(c + (axis == 0 ? at : 0), y + (axis == 1 ? at : 0), x + (axis == 2 ? at : 0)) =
                part.cube.at(c, y, x);
      at += part.cube.*size;
      tensors.push_back(part.tensor);
    }
    const std::string layer = name();
    add(net_.concatenate(tensors, {.name = layer, .axis = static_cast<Axis>(axis)}),
        std::move(out));
  }

  void add_slice(const Node& in) {
    const int axis = any(0, 2);
    int Int8::*const size = axis == 0 ? &Int8::c : axis == 1 ? &Int8::h : &Int8::w;
    // Often from an atom of some configuration on.
    const int last = in.cube.*size - 1;
    const int start = one_in(2) ? any(0, last) : std::min(any(0, 4) * 8, last);
    Int8 out = in.cube;
    out.*size = any(1, in.cube.*size - start);
    out = Int8(out.c, out.h, out.w);
    for (int c = 0; c < out.c; ++c)
      for (int y = 0; y < out.h; ++y)
        for (int x = 0; x < out.w; ++x)
          out.at(c, y, x) = in.cube.at(c + (axis == 0 ? start : 0), y + (axis == 1 ? start : 0),
                                       x + (axis == 2 ? start : 0));
    const std::string layer = name();
    Slice slice{.name = layer, .axis = static_cast<Axis>(axis)};
    slice.start = static_cast<std::uint32_t>(start);
    slice.size = static_cast<std::uint32_t>(out.*size);
    add(net_.slice(in.tensor, slice), std::move(out));
  }

  void add_padding(const Node& in) {
    const int top = any(0, 2), bottom = any(0, 2), left = any(0, 2), right = any(0, 2);
    const int value = any(-128, 127);
    Int8 out(in.cube.c, top + in.cube.h + bottom, left + in.cube.w + right);
    if (out.data.size() > kMostElements) return;
    std::fill(out.data.begin(), out.data.end(), static_cast<std::int8_t>(value));
    for (int c = 0; c < in.cube.c; ++c)
      for (int y = 0; y < in.cube.h; ++y)
        for (int x = 0; x < in.cube.w; ++x) out.at(c, top + y, left + x) = in.cube.at(c, y, x);
    const std::string layer = name();
    Padding padding{.name = layer};
    padding.top = static_cast<std::uint32_t>(top);
    padding.bottom = static_cast<std::uint32_t>(bottom);
    padding.left = static_cast<std::uint32_t>(left);
    padding.right = static_cast<std::uint32_t>(right);
    padding.value = value;
    add(net_.pad(in.tensor, padding), std::move(out));
  }

  // A softmax or a normalisation along the channels of each position.
  void add_column(const Node& in) {
    const double step = any(0, 1) == 0 ? 1 / 16.0 : 1 / 64.0;
    const Quantization from = {static_cast<float>(step), any(-9, 9)}, to = {1 / 32.0F, 3};
    const bool norm = one_in(2);
    Int8 out = in.cube;
    const std::size_t area = out.data.size() / static_cast<std::size_t>(out.c);
    for (std::size_t p = 0; p < area; ++p) {
      std::vector<double> column;
      for (std::size_t i = p; i < out.data.size(); i += area)
        column.push_back((in.cube.data[i] - from.zero_point) * step);
      double sum = 0, squares = 0, powers = 0;
      for (const double x : column) sum += x;
      const double mean = sum / out.c;
      for (const double x : column) {
        squares += (x - mean) * (x - mean);
        powers += std::exp(x);
      }
      for (std::size_t c = 0; c < column.size(); ++c)
        out.data[c * area + p] =
            norm ? nearest((column[c] - mean) / std::sqrt(squares / out.c + 1e-5) * 32 + 3)
                 : nearest(std::exp(column[c]) / powers * 256 - 128);
    }
    const std::string layer = name();
    add(norm ? net_.layer_normalization(in.tensor, {.name = layer, .input = from, .output = to})
             : net_.softmax(in.tensor, {.name = layer, .input = from}),
        std::move(out));
  }

  static std::int8_t nearest(double value) {
    return static_cast<std::int8_t>(std::clamp(std::round(value), -128.0, 127.0));
  }

  // With the rows of another one as columns.
  void add_product(const Node& in) {
    const std::vector<Node> fit = same_but(in.cube, false, true, true);
    const Node& other = fit[static_cast<std::size_t>(any(0, static_cast<int>(fit.size()) - 1))];
    const int columns = other.cube.h * other.cube.w;
    Int8 out(columns, in.cube.h, in.cube.w);
    if (columns > 70 || out.data.size() > kMostElements) return;
    for (int c = 0; c < columns; ++c)
      for (int y = 0; y < out.h; ++y)
        for (int x = 0; x < out.w; ++x) {
          std::int64_t sum = 0;
          for (int i = 0; i < in.cube.c; ++i)
            sum += in.cube.at(i, y, x) * (other.cube.at(i, c / other.cube.w, c % other.cube.w) - 2);
          out.at(c, y, x) = static_cast<std::int8_t>(saturate(round_shift(sum, 8), 8));
        }
    const std::string layer = name();
    add(net_.product(in.tensor, other.tensor,
                     {.name = layer,
                      .a = Quantization{},
                      .b = Quantization{1, 2},
                      .transposed = true,
                      .factor = 1 / 256.0}),
        std::move(out));
  }

  void add_transpose(const Node& in) {
    if (in.cube.h > 70 || in.cube.w > 70) return;
    Int8 out(in.cube.h, in.cube.w, in.cube.c);
    for (int c = 0; c < out.c; ++c)
      for (int y = 0; y < out.h; ++y)
        for (int x = 0; x < out.w; ++x) out.at(c, y, x) = in.cube.at(x, c, y);
    const std::string layer = name();
    add(net_.transpose(in.tensor,
                       {.name = layer, .order = {Axis::kHeight, Axis::kWidth, Axis::kChannels}}),
        std::move(out));
  }

  void add_reshape(const Node& in) {
    const int elements = static_cast<int>(in.cube.data.size());
    const int channels = divisor(elements), height = divisor(elements / channels);
    // Convolutions of them would take long.
    if (channels > 100) return;
    Int8 out(channels, height, elements / channels / height);
    out.data = in.cube.data;
    const std::string layer = name();
    const Shape shape = shape_of(out);
    add(net_.reshape(in.tensor, {.name = layer,
                                 .channels = shape.channels,
                                 .height = shape.height,
                                 .width = shape.width}),
        std::move(out));
  }

  // With paddings that do not count, in windows that the device has or not.
  void add_average(const Node& in) {
    Average a{.name = {}, .kernel_height = 1, .kernel_width = 1};
    a.stride_height = a.stride_width = static_cast<std::uint32_t>(one_in(4) ? 9 : any(1, 2));
    const int kernel_height = any(1, in.cube.h), kernel_width = any(1, in.cube.w);
    const int top = any(0, std::min(kernel_height - 1, 2));
    const int stride = static_cast<int>(a.stride_height);
    a.kernel_height = static_cast<std::uint32_t>(kernel_height);
    a.kernel_width = static_cast<std::uint32_t>(kernel_width);
    a.pad_top = static_cast<std::uint32_t>(top);
    Int8 out(in.cube.c, (top + in.cube.h - kernel_height) / stride + 1,
             (in.cube.w - kernel_width) / stride + 1);
    for (int c = 0; c < out.c; ++c) {
      for (int y = 0; y < out.h; ++y) {
        for (int x = 0; x < out.w; ++x) {
          int sum = 0, count = 0;
          for (int r = std::max(y * stride - top, 0); r < y * stride - top + kernel_height; ++r) {
            for (int s = x * stride; s < x * stride + kernel_width; ++s, ++count)
              sum += in.cube.at(c, r, s);
          }
          const int size = (2 * std::abs(sum) + count) / (2 * count);
          out.at(c, y, x) = static_cast<std::int8_t>(sum < 0 ? -size : size);
        }
      }
    }
    const std::string layer = name();
    a.name = layer;
    add(net_.average(in.tensor, a), std::move(out));
  }

  // The youngest, and some of the others.
  void name_outputs() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!nodes_[i].made || (i + 1 != nodes_.size() && !one_in(6))) continue;
      net_.output(nodes_[i].tensor, "out" + std::to_string(outputs_.size()));
      outputs_.push_back(i);
    }
  }

  Source& source_;
  bool copies_ = false;
  Network net_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> inputs_, outputs_;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_RANDOM_GRAPH_HPP
