// SPDX-License-Identifier: MIT
#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <variant>

#include "cpu_reference.hpp"
#include "integer_reference.hpp"
#include "random.hpp"

namespace networks {
namespace {

// The deviation of a result before its activation, in steps: int8 holds four of them.
constexpr double kSpread = 32;
// The deviation of what a residual block adds to its shortcut. It is small, as in trained networks:
// if each block added as much as its input has, deep networks would exceed the range of fp16.
constexpr double kAdded = 8;
// The deviation of a hard sigmoid's result for inputs of deviation 1, and the result for 0.
constexpr double kHardSpread = 128 / 6.0, kHardMiddle = 64;

struct Spread {
  double mean = 0, deviation = 0;
};

template <typename T>
Spread spread_of(std::span<const T> data, std::size_t first, std::size_t stride) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t i = first; i < data.size(); i += stride, ++count) {
    const double x = data[i];
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(squares / count - mean * mean, 0.0))};
}

// Draws a picture: a coarse grid, interpolated linearly, with some noise.
Integers picture(const Shape& shape, Random& random) {
  constexpr std::uint32_t kGrid = 8;
  Integers image(shape.elements());
  for (std::uint32_t c = 0; c < shape.channels; ++c) {
    double grid[kGrid + 1][kGrid + 1];
    for (auto& line : grid)
      for (double& point : line) point = 40 * random.normal();
    for (std::uint32_t i = 0; i < shape.height * shape.width; ++i) {
      const double y = static_cast<double>(i / shape.width) * kGrid / shape.height;
      const double x = static_cast<double>(i % shape.width) * kGrid / shape.width;
      const auto v = static_cast<std::uint32_t>(y), u = static_cast<std::uint32_t>(x);
      const double above = grid[v][u] + (grid[v][u + 1] - grid[v][u]) * (x - u);
      const double below = grid[v + 1][u] + (grid[v + 1][u + 1] - grid[v + 1][u]) * (x - u);
      const double value = above + (below - above) * (y - v) + 8 * random.normal();
      image[std::size_t{i} * shape.channels + c] =
          static_cast<std::int8_t>(std::clamp(std::lround(value), -128L, 127L));
    }
  }
  return image;
}

// About normal, three deviations in int8.
void draw_weights(std::vector<std::int8_t>& weights, Random& random) {
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    const std::uint64_t bits = random.bits();
    for (std::size_t j = 0; j < std::min<std::size_t>(2, weights.size() - i); ++j) {
      const int sum = Random::sum_of_bytes(static_cast<std::uint32_t>(bits >> 32 * j));
      weights[i + j] = static_cast<std::int8_t>(std::clamp(sum * 73 / 256, -127, 127));
    }
  }
}

// Chooses biases and factors that give each channel the distribution that it has after a batch
// normalisation, around `middle`. Mean and deviation differ a little between channels.
template <typename T>
void normalise(Numbers& numbers, std::uint32_t channels, std::span<const T> data, double size,
               double middle, Random& random) {
  // A few positions are too few for statistics.
  const bool each = data.size() / channels >= 16;
  const Spread all = spread_of(data, 0, 1);
  std::vector<double> factors(channels), biases(channels);
  for (std::uint32_t k = 0; k < channels; ++k) {
    Spread spread = each ? spread_of(data, k, channels) : all;
    // A channel that hardly varies is not amplified.
    spread.deviation = std::max({spread.deviation, all.deviation / 16, 1.0});
    biases[k] = spread.deviation * 0.25 * random.normal() - spread.mean;
    factors[k] = size * (0.75 + 0.5 * random.uniform()) / spread.deviation;
    biases[k] += middle / factors[k];
  }
  const double largest = *std::max_element(factors.begin(), factors.end());
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  const int shift = 15 - exponent;
  numbers.factor_shift = static_cast<std::uint32_t>(shift - static_cast<int>(Numbers::kFraction));
  numbers.factors.resize(channels);
  std::transform(factors.begin(), factors.end(), numbers.factors.begin(), [&](double f) {
    return static_cast<std::int16_t>(std::min(std::lround(std::ldexp(f, shift)), 32767L));
  });
  double reach = 0;
  for (const double bias : biases) reach = std::max(reach, std::abs(bias));
  double unit = 1;
  while (reach / unit > 32767) unit *= 2;
  numbers.bias.resize(channels);
  std::transform(biases.begin(), biases.end(), numbers.bias.begin(), [&](double bias) {
    return static_cast<std::int32_t>(std::lround(bias / unit) * static_cast<long>(unit));
  });
}

// The factor that brings a sum with a shortcut back to the spread of others.
nvdla::Converter converter_of(std::span<const std::int32_t> fine) {
  constexpr int kBits = 14;
  double squares = 0;
  for (const std::int32_t v : fine) squares += static_cast<double>(v) * v;
  const double unit = 1 << Numbers::kFraction;
  const double size = std::sqrt(squares / static_cast<double>(fine.size())) / unit;
  const double factor = std::min(kSpread / std::max(size, 1.0), 1.0);
  return {.scale = static_cast<std::int16_t>(std::lround(std::ldexp(factor, kBits))),
          .shift = kBits + Numbers::kFraction};
}

// Draws the numbers of one layer, and computes it.
class Drawing {
 public:
  Drawing(const Graph& graph, std::uint64_t seed, nvdla::Precision precision, Network& network)
      : graph_(graph), random_(seed), precision_(precision), network_(network) {}

  void add(const Layer& layer) {
    Numbers numbers;
    Integers result =
        std::visit([&](const auto& what) { return make(layer, what, numbers); }, layer.what);
    steps_.push_back(step_of(layer, numbers, steps_));
    network_.numbers.push_back(std::move(numbers));
    network_.results.push_back(std::move(result));
  }

 private:
  const Integers& result(Value value) const { return network_.results[value]; }

  Integers make(const Layer& layer, const Image&, Numbers&) {
    return picture(layer.shape, random_);
  }
  Integers make(const Layer& layer, const Conv& conv, Numbers& numbers) {
    return make_sums(layer, 1, conv.shortcut == kNoValue ? nullptr : &result(conv.shortcut),
                     numbers);
  }
  Integers make(const Layer& layer, const Double&, Numbers& numbers) {
    return make_sums(layer, 4, nullptr, numbers);
  }
  // Makes a layer of sums whose kernels have `places` positions for each result.
  Integers make_sums(const Layer& layer, std::size_t places, const Integers* shortcut,
                     Numbers& numbers) {
    numbers.weights.resize(places * layer.shape.channels * graph_.taps(layer));
    draw_weights(numbers.weights, random_);
    const auto sums = sums_of(graph_, layer, numbers, result(layer.inputs[0]));
    const Activation activation = activation_of(layer);
    const bool hard = activation == Activation::kHardSigmoid;
    normalise<std::int32_t>(numbers, layer.shape.channels, sums,
                            hard                  ? kHardSpread
                            : shortcut == nullptr ? kSpread
                                                  : kAdded,
                            hard ? kHardMiddle : 0, random_);
    if (has_table(activation)) look_up(activation, numbers);
    const auto fine = fine_results(layer, numbers, sums, shortcut);
    if (shortcut != nullptr) numbers.output = converter_of(fine);
    return converted(fine, numbers.output);
  }
  Integers make(const Layer& layer, const Norm&, Numbers& numbers) {
    const Integers& input = result(layer.inputs[0]);
    normalise<std::int8_t>(numbers, layer.shape.channels, input, kSpread, 0, random_);
    const std::vector<std::int32_t> wide(input.begin(), input.end());
    return converted(fine_results(layer, numbers, wide, nullptr), numbers.output);
  }
  Integers make(const Layer& layer, const Pool&, Numbers&) {
    return pooled(graph_, layer, result(layer.inputs[0]));
  }
  Integers make(const Layer& layer, const Lrn& lrn, Numbers& numbers) {
    numbers.lut = table(lrn, nvdla::Precision::kInt8);
    if (precision_ == nvdla::Precision::kFp16) numbers.real_lut = table(lrn, precision_);
    return normalised(layer, numbers.lut, result(layer.inputs[0]));
  }
  Integers make(const Layer& layer, const Concat&, Numbers&) {
    Inputs inputs;
    for (const Value input : layer.inputs) inputs.push_back(&result(input));
    return concatenated(graph_, layer, inputs);
  }
  Integers make(const Layer& layer, const Scale&, Numbers&) {
    return scaled(layer, result(layer.inputs[0]), result(layer.inputs[1]));
  }

  Integers make(const Layer& layer, const Slice& slice, Numbers&) {
    return sliced(graph_, layer, slice, result(layer.inputs[0]));
  }
  // The input of a softmax has steps of 1/16 and a deviation of 1.
  Integers make(const Layer& layer, const Product& product, Numbers& numbers) {
    const auto sums =
        sums_of_products(graph_, layer, product, result(layer.inputs[0]), result(layer.inputs[1]));
    const double spread = product.transposed ? kSpread / 2 : kSpread;
    numbers.step = product.transposed ? 1 / 16.0 : 1;
    int exponent = 0;
    const double factor = std::frexp(
        spread / std::max(spread_of<std::int64_t>(sums, 0, 1).deviation, 1.0), &exponent);
    // Few enough bits that doubles compute it exactly.
    constexpr int kBits = 8;
    numbers.output = {.scale = static_cast<std::int16_t>(std::lround(std::ldexp(factor, kBits))),
                      .shift = static_cast<std::uint32_t>(kBits - exponent)};
    return converted_sums(sums, numbers.output);
  }
  Integers make(const Layer& layer, const Softmax&, Numbers&) {
    return probabilities(layer, steps_[layer.inputs[0]], result(layer.inputs[0]));
  }
  Integers make(const Layer& layer, const LayerNorm&, Numbers& numbers) {
    for (std::uint32_t c = 0; c < layer.shape.channels; ++c) {
      numbers.gamma.push_back(static_cast<float>(kSpread * (0.75 + 0.5 * random_.uniform())));
      numbers.beta.push_back(static_cast<float>(kSpread * 0.25 * random_.normal()));
    }
    return layer_normal(layer, numbers, steps_[layer.inputs[0]], result(layer.inputs[0]));
  }
  Integers make(const Layer& layer, const Gelu&, Numbers&) {
    return smooth(result(layer.inputs[0]));
  }

  void look_up(Activation activation, Numbers& numbers) {
    numbers.lut = table(activation, nvdla::Precision::kInt8);
    if (precision_ == nvdla::Precision::kFp16) numbers.real_lut = table(activation, precision_);
    nvdla::Pointwise layer;
    numbers.lut.apply(layer);
    numbers.output = layer.output;
  }

  // The function of a table. A fit is slow, and a network has several equal tables.
  using Function = std::variant<Lrn, Activation>;
  struct Table {
    Function function;
    nvdla::Lut lut;
  };

  nvdla::Lut table(const Function& function, nvdla::Precision precision) {
    for (const Table& made : tables_) {
      if (made.function == function && made.lut.format().precision == precision) return made.lut;
    }
    nvdla::LutFormat format;
    format.precision = precision;
    tables_.push_back(
        {function, std::visit([&](const auto& f) { return fit(f, format); }, function)});
    return tables_.back().lut;
  }

  // Fits the table of a normalisation whose elements have steps of 1.
  static nvdla::Lut fit(const Lrn& lrn, const nvdla::LutFormat& format) {
    // A limit far above all activations.
    const double greatest = format.precision == nvdla::Precision::kFp16 ? 1024 : 128;
    return nvdla::lut::lrn(lrn.alpha, lrn.beta, lrn.k, lrn.size, format, greatest);
  }
  static nvdla::Lut fit(Activation activation, nvdla::LutFormat format) {
    format.input.scale = static_cast<float>(
        std::ldexp(step_before(activation), -static_cast<int>(Numbers::kFraction)));
    format.output.scale = static_cast<float>(step_behind(activation));
    return activation == Activation::kSwish ? nvdla::lut::swish(format)
                                            : nvdla::lut::sigmoid(format);
  }

  const Graph& graph_;
  Random random_;
  nvdla::Precision precision_;
  Network& network_;
  std::vector<Table> tables_;
  std::vector<double> steps_;
};

}  // namespace

Network draw(const Graph& graph, std::uint64_t seed, nvdla::Precision precision, const Say& say) {
  Network network{graph, {}, {}};
  Drawing drawing(graph, seed, precision, network);
  for (const Layer& layer : graph.layers()) {
    say(fmt::format("drawing the weights of '{}' and computing what they lead to", layer.name));
    drawing.add(layer);
  }
  return network;
}

double step_before(Activation activation) {
  if (activation == Activation::kSwish) return 1 / 16.0;
  if (activation == Activation::kSigmoid) return 1 / 32.0;
  return step_behind(activation);
}

double step_behind(Activation activation) {
  if (activation == Activation::kSwish) return 1 / 16.0;
  const bool factor = activation == Activation::kSigmoid || activation == Activation::kHardSigmoid;
  return factor ? std::ldexp(1, -static_cast<int>(Numbers::kFactorBits)) : 1;
}

double step_of(const Layer& layer, const Numbers& numbers, const std::vector<double>& before) {
  const auto first = [&] { return before[layer.inputs[0]]; };
  if (const auto* conv = std::get_if<Conv>(&layer.what); conv && conv->shortcut != kNoValue)
    return before[conv->shortcut] / numbers.output.scale *
           std::ldexp(1, static_cast<int>(numbers.output.shift - Numbers::kFraction));
  if (std::holds_alternative<Pool>(layer.what) || std::holds_alternative<Slice>(layer.what))
    return first();
  if (std::holds_alternative<Product>(layer.what)) return numbers.step;
  if (std::holds_alternative<Scale>(layer.what))
    return std::ldexp(first() * before[layer.inputs[1]], static_cast<int>(Numbers::kFactorBits));
  if (std::holds_alternative<Softmax>(layer.what)) return kProbability;
  if (std::holds_alternative<Concat>(layer.what)) {
    for (const Value part : layer.inputs) {
      if (before[part] != first()) throw std::logic_error(layer.name + ": parts of several steps");
    }
    return first();
  }
  const bool in_ones =
      std::holds_alternative<Lrn>(layer.what) || std::holds_alternative<Gelu>(layer.what);
  if (in_ones && first() != 1)
    throw std::logic_error(layer.name + ": its table is of elements with steps of 1");
  return step_behind(activation_of(layer));
}

std::vector<double> steps(const Network& network) {
  std::vector<double> all;
  for (const Layer& layer : network.graph.layers())
    all.push_back(step_of(layer, network.numbers[all.size()], all));
  return all;
}

}  // namespace networks
