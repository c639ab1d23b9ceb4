// SPDX-License-Identifier: MIT
//
// Pictures that a convolution of fp16 reads as bytes: its input converter subtracts a whole number
// from each, and the rest of what the model computes of them goes into kernels and bias.
#ifndef NVDLA_IMPORT_NODES_BYTE_PIXELS_HPP
#define NVDLA_IMPORT_NODES_BYTE_PIXELS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nvdla/operators/convolution.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// Bytes of a picture lie less 128, as int8.
inline constexpr Quantization kBytes = {.scale = 1, .zero_point = -128};

// `BytePixels` is what the model computes of each channel of a picture before the convolution that
// alone reads it, and that takes its bytes: p * factor + shift.
struct BytePixels {
  std::vector<double> factors, shifts;
};

// `ByteForm` is a convolution of bytes. What the converter leaves of a shift is the same for each
// result, and part of the bias, unless something else pads: then it is a fourth component of the
// pixels, which the converter makes 1, with kernels of its own.
class ByteForm {
 public:
  // `pads`: zeros pad what the model computes.
  ByteForm(const BytePixels& pixels, bool pads);

  // Adds to the bias of each kernel what all results have in common; returns true if that is
  // something. `weights` are those of the model (KCRS).
  bool add_to_bias(const std::vector<float>& weights, std::vector<double>& bias) const;
  // Sets converter, padding and kernels of a layer, which has the number of its kernels. The form
  // must live until the layer is added.
  void set(const std::vector<float>& weights, Convolution& layer);

 private:
  std::size_t channels() const { return factors_.size(); }
  // Calls use(kernel, channel, tap, weight).
  template <typename Use>
  void each(const std::vector<float>& weights, std::size_t kernels, const Use& use) const;

  std::vector<double> factors_, rests_;  // by channel
  std::vector<std::int16_t> mean_;       // by component
  std::uint16_t padding_ = 0;            // an element, as the converter leaves them
  bool in_bias_ = true;
  std::vector<float> weights_;
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_NODES_BYTE_PIXELS_HPP
