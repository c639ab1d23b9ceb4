// SPDX-License-Identifier: MIT
#include "integer_reference.hpp"

#include <algorithm>
#include <variant>

#include "products.hpp"
#include "rounding.hpp"

namespace networks {

std::vector<std::int32_t> sums_of(const Graph& graph, const Layer& layer, const Numbers& numbers,
                                  const Integers& input) {
  // Products of 16 bits are what processors are quick at.
  const std::vector<std::int16_t> wide(input.begin(), input.end());
  const auto sums = [&](const auto& what) {
    return products<std::int32_t, std::int16_t>(what, graph.input_shape(layer), layer.shape, wide,
                                                numbers.weights);
  };
  const auto* up = std::get_if<Double>(&layer.what);
  return up != nullptr ? sums(*up) : sums(std::get<Conv>(layer.what));
}

std::vector<std::int32_t> fine_results(const Layer& layer, const Numbers& numbers,
                                       std::span<const std::int32_t> sums,
                                       const Integers* shortcut) {
  const Activation activation = activation_of(layer);
  std::vector<std::int32_t> fine(sums.size());
  for (std::size_t i = 0, k = 0; i < sums.size(); ++i) {
    std::int64_t v = (std::int64_t{sums[i]} + numbers.bias[k]) * numbers.factors[k];
    v = saturated(rounded(v, static_cast<int>(numbers.factor_shift)), 32);
    if (shortcut != nullptr) {
      const std::int64_t step = std::int64_t{1} << Numbers::kFraction;
      v = saturated(v + (*shortcut)[i] * step, 32);
    }
    const bool hard = activation == Activation::kHardSigmoid;
    if (v < 0 && (activation == Activation::kRelu || hard)) v = 0;
    if (v < 0 && activation == Activation::kLeaky)
      v = rounded(v * Numbers::kLeak, static_cast<int>(Numbers::kLeakShift));
    if (has_table(activation)) v = looked_up(numbers.lut.table(), v);
    fine[i] = static_cast<std::int32_t>(v);
    if (++k == layer.shape.channels) k = 0;
  }
  return fine;
}

Integers converted(std::span<const std::int32_t> fine, const nvdla::Converter& output) {
  Integers result(fine.size());
  std::transform(fine.begin(), fine.end(), result.begin(), [&](std::int32_t v) {
    const std::int64_t product = (std::int64_t{v} - output.offset) * output.scale;
    return static_cast<std::int8_t>(saturated(rounded(product, static_cast<int>(output.shift)), 8));
  });
  return result;
}

Integers pooled(const Graph& graph, const Layer& layer, const Integers& input) {
  const auto& pool = std::get<Pool>(layer.what);
  const Shape &in = graph.input_shape(layer), &out = layer.shape;
  const std::int64_t share = 65536 / pool.size;
  Integers result(out.elements());
  in_parallel(out.height, [&](std::uint32_t y) {
    std::vector<std::int32_t> all(out.channels);
    for (std::uint32_t x = 0; x < out.width; ++x) {
      const bool average = pool.method == NVDLA_POOL_AVERAGE;
      std::fill(all.begin(), all.end(), average ? 0 : -128);
      for (std::uint32_t i = 0; i < pool.size * pool.size; ++i) {
        const std::int64_t row = std::int64_t{y} * pool.stride + i / pool.size - pool.pad;
        const std::int64_t column = std::int64_t{x} * pool.stride + i % pool.size - pool.pad;
        if (row < 0 || row >= in.height || column < 0 || column >= in.width) continue;
        const std::int8_t* element = input.data() + (row * in.width + column) * in.channels;
        for (std::uint32_t c = 0; c < out.channels; ++c)
          all[c] = average ? all[c] + element[c] : std::max<std::int32_t>(all[c], element[c]);
      }
      std::int8_t* to = result.data() + (std::size_t{y} * out.width + x) * out.channels;
      for (std::uint32_t c = 0; c < out.channels; ++c) {
        const std::int64_t value =
            average ? rounded(rounded(all[c] * share, 16) * share, 16) : all[c];
        to[c] = static_cast<std::int8_t>(value);
      }
    }
  });
  return result;
}

Integers normalised(const Layer& layer, const nvdla::Lut& lut, const Integers& input) {
  nvdla::Normalization how;
  lut.apply(how);
  const auto channels = static_cast<std::int64_t>(layer.shape.channels);
  const auto reach = static_cast<std::int64_t>(how.window / 2);
  const auto into = [&](std::int8_t x) {
    const std::int64_t product = (std::int64_t{x} - how.input.offset) * how.input.scale;
    return saturated(rounded(product, static_cast<int>(how.input.shift)), 9);
  };
  Integers result(input.size());
  in_parallel(layer.shape.height, [&](std::uint32_t line) {
    const std::size_t first = std::size_t{line} * layer.shape.width * layer.shape.channels;
    for (std::uint32_t i = 0; i < layer.shape.width * layer.shape.channels; ++i) {
      const auto c = static_cast<std::int64_t>(i % layer.shape.channels);
      const std::int8_t* at = input.data() + first + i;
      std::int64_t sum = 0;
      for (std::int64_t j = std::max(c - reach, std::int64_t{0});
           j <= std::min(c + reach, channels - 1); ++j)
        sum += into(at[j - c]) * into(at[j - c]);
      const std::int64_t product = into(*at) * looked_up(*how.lut, sum) - how.output.offset;
      const std::int64_t out =
          rounded(product * how.output.scale, static_cast<int>(how.output.shift));
      result[first + i] = static_cast<std::int8_t>(saturated(out, 8));
    }
  });
  return result;
}

Integers scaled(const Layer& layer, const Integers& input, const Integers& factors) {
  Integers result(input.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t product = std::int64_t{input[i]} * factors[i % layer.shape.channels];
    const std::int64_t value = rounded(product, static_cast<int>(Numbers::kFactorBits));
    result[i] = static_cast<std::int8_t>(saturated(value, 8));
  }
  return result;
}

Integers concatenated(const Graph& graph, const Layer& layer, const Inputs& inputs) {
  Integers result(layer.shape.elements());
  std::size_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t channels = graph.shape(layer.inputs[i]).channels;
    for (std::size_t p = 0; p < inputs[i]->size() / channels; ++p)
      std::copy_n(inputs[i]->data() + p * channels, channels,
                  result.data() + p * layer.shape.channels + first);
    first += channels;
  }
  return result;
}

}  // namespace networks
