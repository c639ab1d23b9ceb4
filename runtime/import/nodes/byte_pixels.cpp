// SPDX-License-Identifier: MIT
#include "import/nodes/byte_pixels.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "nvdla/types/half.hpp"

namespace nvdla::import {

ByteForm::ByteForm(const BytePixels& pixels, bool pads) : factors_(pixels.factors) {
  std::vector<std::uint16_t> paddings;
  for (std::size_t c = 0; c < channels(); ++c) {
    const double mean = std::round(-pixels.shifts[c] / factors_[c]);
    rests_.push_back(pixels.shifts[c] + mean * factors_[c]);
    mean_.push_back(static_cast<std::int16_t>(mean + kBytes.zero_point));
    paddings.push_back(to_half(static_cast<float>(-rests_[c] / factors_[c])));
  }
  const bool alike =
      std::adjacent_find(paddings.begin(), paddings.end(), std::not_equal_to<>()) == paddings.end();
  in_bias_ = !pads || alike;
  if (pads && alike) {
    // The padding is rounded, and has to give exactly nothing.
    padding_ = paddings[0];
    for (std::size_t c = 0; c < channels(); ++c)
      rests_[c] = -factors_[c] * static_cast<double>(from_half(padding_));
  }
  // Pixels of several components have four.
  if (channels() > 1) mean_.resize(4, in_bias_ ? 0 : -1);
}

template <typename Use>
void ByteForm::each(const std::vector<float>& weights, std::size_t kernels, const Use& use) const {
  const std::size_t taps = weights.size() / kernels / channels();
  std::size_t at = 0;
  for (std::size_t k = 0; k < kernels; ++k)
    for (std::size_t c = 0; c < channels(); ++c)
      for (std::size_t t = 0; t < taps; ++t) use(k, c, t, static_cast<double>(weights[at++]));
}

bool ByteForm::add_to_bias(const std::vector<float>& weights, std::vector<double>& bias) const {
  if (!in_bias_) return false;
  each(weights, bias.size(), [&](std::size_t k, std::size_t c, std::size_t, double weight) {
    bias[k] += weight * rests_[c];
  });
  return std::any_of(rests_.begin(), rests_.end(), [](double rest) { return rest != 0; });
}

void ByteForm::set(const std::vector<float>& weights, Convolution& layer) {
  const std::size_t components = mean_.size();
  const std::size_t taps = weights.size() / layer.kernels / channels();
  std::vector<double> kernels(layer.kernels * components * taps);
  each(weights, layer.kernels, [&](std::size_t k, std::size_t c, std::size_t t, double weight) {
    kernels[(k * components + c) * taps + t] = weight * factors_[c];
    if (!in_bias_) kernels[(k * components + channels()) * taps + t] += weight * rests_[c];
  });
  weights_.assign(kernels.begin(), kernels.end());
  layer.weights = std::span<const float>(weights_);
  layer.input.mean = mean_;
  layer.pad_value = padding_;
}

}  // namespace nvdla::import
