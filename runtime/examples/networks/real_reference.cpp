// SPDX-License-Identifier: MIT
#include "real_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "cpu_reference.hpp"
#include "describe.hpp"
#include "products.hpp"

namespace networks {
namespace {

// Half of the last place of a number: fp16 and fp17 have 11 bits, fp32 has 24; fp16 goes down to
// 2^-24.
const double kHalf = std::ldexp(1, -11), kSingle = std::ldexp(1, -24);
const double kLeastHalf = std::ldexp(1, -25);
// The relative error of the CPU's computations in doubles.
const double kDoubles = std::ldexp(1, -30);
// The relative error of a sum of 64 products, and the absolute one if all of them are tiny.
const double kAligned = std::ldexp(1, -13), kTiny = std::ldexp(1, -20);

class Expecting {
 public:
  Expecting(const Network& network, std::span<const double> steps, Value value,
            std::span<const std::vector<float>> results)
      : network_(network),
        layer_(network.graph.layers()[value]),
        numbers_(network.numbers[value]),
        in_(network.graph.input_shape(layer_)),
        out_(layer_.shape),
        steps_(steps),
        results_(results),
        expected_(out_.elements()) {
    if (!numbers_.factors.empty()) reals_ = reals_of(network, steps, value);
  }

  void operator()(const Image&) {}

  void operator()(const Conv& conv) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    const Windows<float> windows(conv, in_, out_, input);
    const auto sizes_of = [&](std::uint32_t position) {
      std::vector<float> window(windows.size());
      windows.gather(position, window.data());
      std::vector<double> squares(conv.groups);
      const std::size_t channels = in_.channels / conv.groups;
      for (std::size_t i = 0; const float x : window)
        squares[i++ % in_.channels / channels] += static_cast<double>(x) * x;
      for (double& size : squares) size = std::sqrt(size);
      return squares;
    };
    finish(products<double, float>(conv, in_, out_, input, numbers_.weights), sizes_of,
           conv.shortcut == kNoValue ? nullptr : results_[conv.shortcut].data());
  }

  void operator()(const Double& up) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    const auto sizes_of = [&](std::uint32_t position) {
      const std::size_t y = position / out_.width / 2, x = position % out_.width / 2;
      return std::vector{
          length(std::span(input).subspan((y * in_.width + x) * in_.channels, in_.channels))};
    };
    finish(products<double, float>(up, in_, out_, input, numbers_.weights), sizes_of, nullptr);
  }

  void operator()(const Norm&) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    for (std::size_t i = 0; i < input.size(); ++i) {
      const auto k = static_cast<std::uint32_t>(i % out_.channels);
      expected_[i] = finished({input[i], 0}, k, 0);
    }
  }

  void operator()(const Pool& pool) {
    const float* input = results_[layer_.inputs[0]].data();
    for (std::size_t i = 0; i < out_.elements(); ++i) {
      const std::size_t p = i / out_.channels;
      double sum = 0, size = 0, most = -std::numeric_limits<double>::infinity();
      for (std::uint32_t j = 0; j < pool.size * pool.size; ++j) {
        const auto y =
            static_cast<std::int64_t>(p / out_.width * pool.stride + j / pool.size) - pool.pad;
        const auto x =
            static_cast<std::int64_t>(p % out_.width * pool.stride + j % pool.size) - pool.pad;
        if (y < 0 || y >= in_.height || x < 0 || x >= in_.width) continue;
        const double element =
            input[static_cast<std::size_t>(y * in_.width + x) * in_.channels + i % out_.channels];
        sum += element;
        size += std::abs(element);
        most = std::max(most, element);
      }
      if (pool.method == NVDLA_POOL_AVERAGE) {
        const double average = sum / (pool.size * pool.size);
        expected_[i] = {average, kHalf * (size + 6 * std::abs(average))};
      } else {
        expected_[i] = {most, 0};
      }
    }
  }

  void operator()(const Lrn& lrn) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    const double error = numbers_.real_lut.report().error;
    const auto channels = static_cast<std::int64_t>(in_.channels);
    const auto reach = static_cast<std::int64_t>(lrn.size / 2);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const auto c = static_cast<std::int64_t>(i % in_.channels);
      const float* at = input.data() + i;
      double sum = 0;
      for (std::int64_t j = std::max(c - reach, std::int64_t{0});
           j <= std::min(c + reach, channels - 1); ++j)
        sum += static_cast<double>(at[j - c]) * at[j - c];
      const double value = *at * std::pow(lrn.k + lrn.alpha / lrn.size * sum, -lrn.beta);
      const double size = std::abs(value);
      expected_[i] = {value, error * std::max(1.0, size) + 2 * kHalf * size};
    }
  }

  void operator()(const Scale&) {
    const std::vector<float>&input = results_[layer_.inputs[0]],
          &factors = results_[layer_.inputs[1]];
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double product = static_cast<double>(input[i]) * factors[i % out_.channels];
      expected_[i] = {product, 2 * kSingle * std::abs(product)};
    }
  }

  void operator()(const Concat&) {
    std::size_t first = 0;
    for (const Value part : layer_.inputs) {
      const std::size_t channels = network_.graph.shape(part).channels;
      for (std::size_t i = 0; i < results_[part].size(); ++i)
        expected_[i / channels * out_.channels + first + i % channels] = {results_[part][i], 0};
      first += channels;
    }
  }

  void operator()(const Slice& slice) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    for (std::size_t i = 0; i < expected_.size(); ++i)
      expected_[i] = {input[i / out_.channels * in_.channels + slice.first + i % out_.channels], 0};
  }

  void operator()(const Product& product) {
    const double factor = std::ldexp(numbers_.output.scale, -int(numbers_.output.shift)) *
                          numbers_.step / (steps_[layer_.inputs[0]] * steps_[layer_.inputs[1]]);
    const auto sums = products_of_rows<double>(network_.graph, layer_, product,
                                               std::span<const float>(results_[layer_.inputs[0]]),
                                               std::span<const float>(results_[layer_.inputs[1]]));
    for (std::size_t i = 0; i < sums.size(); ++i) set(i, sums[i] * factor);
  }

  void operator()(const Softmax&) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    for (std::size_t i = 0; i < input.size(); i += in_.channels)
      set_all(i, softmax_of(std::span(input).subspan(i, in_.channels), 1));
  }

  void operator()(const LayerNorm&) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    for (std::size_t i = 0; i < input.size(); i += in_.channels)
      set_all(i, normal_of(std::span(input).subspan(i, in_.channels), 1, numbers_));
  }

  void operator()(const Gelu&) {
    const std::vector<float>& input = results_[layer_.inputs[0]];
    for (std::size_t i = 0; i < input.size(); ++i) set(i, smooth_of(input[i]));
  }

  std::vector<Expected> result() && { return std::move(expected_); }

 private:
  // Sets a result that is computed in doubles and rounded once.
  void set(std::size_t i, double value) {
    expected_[i] = {value, kDoubles * std::max(std::abs(value), kLeastHalf)};
  }
  void set_all(std::size_t first, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) set(first + i, values[i]);
  }

  template <typename T>
  static double length(std::span<const T> vector) {
    double squares = 0;
    for (const T x : vector) squares += static_cast<double>(x) * x;
    return std::sqrt(squares);
  }

  // Sets the results of SDP for sums; `sizes_of` returns the lengths of the vectors that are
  // multiplied at a position, one per group.
  void finish(const std::vector<double>& sums, const auto& sizes_of, const float* shortcut) {
    const std::size_t each = numbers_.weights.size() / out_.channels;
    std::vector<double> lengths;
    for (std::size_t k = 0; k < out_.channels; ++k) {
      const std::span<const std::int8_t> weights = numbers_.weights;
      lengths.push_back(length(weights.subspan(k * each, each)) * kWeightStep);
    }
    in_parallel(out_.height * out_.width, [&](std::uint32_t position) {
      const std::vector<double> sizes = sizes_of(position);
      const std::size_t kernels = out_.channels / sizes.size();
      for (std::uint32_t k = 0; k < out_.channels; ++k) {
        const std::size_t i = std::size_t{position} * out_.channels + k;
        const Expected sum{sums[i] * kWeightStep,
                           kAligned * lengths[k] * sizes[k / kernels] + kTiny};
        expected_[i] = finished(sum, k, shortcut != nullptr ? shortcut[i] : 0);
      }
    });
  }

  // Returns the result of SDP for a sum or an element of channel k.
  Expected finished(const Expected& sum, std::uint32_t k, double shortcut) const {
    const Activation activation = activation_of(layer_);
    const double bias = reals_.bias[k], factor = reals_.factors[k];
    const double largest = std::abs(sum.value) + std::abs(bias);
    Expected result{(sum.value + bias) * factor + shortcut,
                    std::abs(factor) * (sum.error + 4 * kSingle * largest)};
    result.error += 4 * kSingle * (std::abs(result.value) + std::abs(shortcut));
    if (result.value < 0 && activation == Activation::kRelu) result.value = 0;
    if (result.value < 0 && activation == Activation::kLeaky)
      result.value *= std::ldexp(Numbers::kLeak, -static_cast<int>(Numbers::kLeakShift));
    if (has_table(activation)) look_up(activation, result);
    return result;
  }

  // The slope of a swish is at most 1.1, that of a sigmoid a quarter.
  void look_up(Activation activation, Expected& result) const {
    const bool swish = activation == Activation::kSwish;
    const double x = result.value;
    result.value = (swish ? x : 1) / (1 + std::exp(-x));
    result.error = (swish ? 1.1 : 0.25) * result.error +
                   numbers_.real_lut.report().error * std::max(1.0, std::abs(result.value));
  }

  const Network& network_;
  const Layer& layer_;
  const Numbers& numbers_;
  const Shape& in_;
  const Shape& out_;
  std::span<const double> steps_;
  std::span<const std::vector<float>> results_;
  Reals reals_;
  std::vector<Expected> expected_;
};

}  // namespace

double Expected::bound() const {
  // Elements that are only moved have no error.
  return error == 0 ? 0 : error + kHalf * (std::abs(value) + error) + kLeastHalf;
}

std::vector<Expected> expect_reals(const Network& network, std::span<const double> steps,
                                   Value layer, std::span<const std::vector<float>> results) {
  Expecting expecting(network, steps, layer, results);
  std::visit(expecting, network.graph.layers()[layer].what);
  return std::move(expecting).result();
}

}  // namespace networks
