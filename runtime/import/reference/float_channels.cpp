// SPDX-License-Identifier: MIT
//
// Normalisations, softmax and largest channels in floats.
#include <algorithm>
#include <cmath>

#include "import/operators/elements.hpp"
#include "import/operators/operator.hpp"
#include "import/reference/float_operators.hpp"

namespace nvdla::import {
namespace {

// The elements of an axis, or of several neighbours, lie `inner` apart.
struct Lines {
  std::size_t outer = 1, size = 1, inner = 1;

  Lines(const Dims& dims, std::size_t first, std::size_t last) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      (i < first ? outer : i <= last ? size : inner) *= static_cast<std::size_t>(dims[i]);
  }
  // Calls `visit` with the first element of each line.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < inner; ++i) visit(o * size * inner + i);
  }
};

template <bool logarithm>
std::vector<float> float_softmax(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const bool old = op.opset() < 13;
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{old ? 1 : -1}), dims.size());
  const Lines lines(dims, axis, old ? dims.size() - 1 : axis);
  std::vector<float> out(inputs[0].size());
  lines.each([&](std::size_t first) {
    const auto at = [&](std::size_t i) {
      return static_cast<double>(inputs[0][first + i * lines.inner]);
    };
    double most = at(0), sum = 0;
    for (std::size_t i = 1; i < lines.size; ++i) most = std::max(most, at(i));
    for (std::size_t i = 0; i < lines.size; ++i) sum += std::exp(at(i) - most);
    for (std::size_t i = 0; i < lines.size; ++i)
      out[first + i * lines.inner] = static_cast<float>(logarithm ? at(i) - most - std::log(sum)
                                                                  : std::exp(at(i) - most) / sum);
  });
  return out;
}

template <bool greatest>
std::vector<float> float_extreme(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const Dims& in = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{0}), in.size());
  const bool last = op.attribute("select_last_index", std::int64_t{0}) != 0;
  const Lines lines(in, axis, axis);
  std::vector<float> out(static_cast<std::size_t>(elements(dims)));
  std::size_t to = 0;
  lines.each([&](std::size_t first) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < lines.size; ++i) {
      const float a = inputs[0][first + i * lines.inner], b = inputs[0][first + best * lines.inner];
      if ((greatest ? a > b : a < b) || (last && a == b)) best = i;
    }
    out[to++] = static_cast<float>(best);
  });
  return out;
}

std::vector<float> float_batch_normalization(const Operation& op, const Inputs& inputs,
                                             const Dims& dims) {
  const auto steps = batch_normalization_steps(op);
  const auto factors = steps[0].operand.doubles(), shifts = steps[1].operand.doubles();
  const Lines lines(dims, dims.size() > 1 ? 1 : 0, dims.size() > 1 ? 1 : 0);
  std::vector<float> out(inputs[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t c = i / lines.inner % factors.size();
    out[i] = static_cast<float>(static_cast<double>(inputs[0][i]) * factors[c] + shifts[c]);
  }
  return out;
}

// Brings the elements of a line to mean 0 and deviation 1.
void normalise(std::span<float> line, double epsilon) {
  double sum = 0, squares = 0;
  for (const float v : line) sum += static_cast<double>(v);
  const double mean = sum / static_cast<double>(line.size());
  for (const float v : line) {
    const double d = static_cast<double>(v) - mean;
    squares += d * d;
  }
  const double factor = 1 / std::sqrt(squares / static_cast<double>(line.size()) + epsilon);
  for (float& v : line) v = static_cast<float>((static_cast<double>(v) - mean) * factor);
}

std::vector<float> float_layer_normalization(const Operation& op, const Inputs& inputs,
                                             const Dims& dims) {
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{-1}), dims.size());
  const Lines lines(dims, axis, dims.size() - 1);
  std::vector<float> out(inputs[0].begin(), inputs[0].end());
  for (std::size_t o = 0; o < lines.outer; ++o)
    normalise(std::span(out).subspan(o * lines.size, lines.size), op.attribute("epsilon", 1e-5));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (op.has(1)) out[i] *= inputs[1][i % inputs[1].size()];
    if (op.has(2)) out[i] += inputs[2][i % inputs[2].size()];
  }
  return out;
}

std::vector<float> float_instance_normalization(const Operation& op, const Inputs& inputs,
                                                const Dims& dims) {
  const Lines lines(dims, 1, 1);
  std::vector<float> out(inputs[0].begin(), inputs[0].end());
  for (std::size_t i = 0; i < lines.outer * lines.size; ++i) {
    const auto plane = std::span(out).subspan(i * lines.inner, lines.inner);
    normalise(plane, op.attribute("epsilon", 1e-5));
    for (float& v : plane) v = v * inputs[1][i % lines.size] + inputs[2][i % lines.size];
  }
  return out;
}

std::vector<float> float_lrn(const Operation& op, const Inputs& inputs, const Dims& dims) {
  const std::int64_t size = op.attribute("size", std::int64_t{1});
  const double alpha = op.attribute("alpha", 1e-4) / static_cast<double>(size);
  const double beta = op.attribute("beta", 0.75), bias = op.attribute("bias", 1.0);
  const Lines lines(dims, 1, 1);
  const auto channels = static_cast<std::int64_t>(lines.size);
  std::vector<float> out(inputs[0].size());
  lines.each([&](std::size_t first) {
    for (std::int64_t c = 0; c < channels; ++c) {
      double squares = 0;
      for (std::int64_t i = std::max<std::int64_t>(c - (size - 1) / 2, 0);
           i <= std::min(c + size / 2, channels - 1); ++i) {
        const auto v =
            static_cast<double>(inputs[0][first + static_cast<std::size_t>(i) * lines.inner]);
        squares += v * v;
      }
      const std::size_t at = first + static_cast<std::size_t>(c) * lines.inner;
      out[at] = static_cast<float>(static_cast<double>(inputs[0][at]) /
                                   std::pow(bias + alpha * squares, beta));
    }
  });
  return out;
}

constexpr FloatOperator kFloatChannels[] = {
    {"ArgMax", float_extreme<true>},
    {"ArgMin", float_extreme<false>},
    {"BatchNormalization", float_batch_normalization},
    {"InstanceNormalization", float_instance_normalization},
    {"LRN", float_lrn},
    {"LayerNormalization", float_layer_normalization},
    {"LogSoftmax", float_softmax<true>},
    {"Softmax", float_softmax<false>},
};

}  // namespace

std::span<const FloatOperator> float_channel_operators() noexcept { return kFloatChannels; }

}  // namespace nvdla::import
