// SPDX-License-Identifier: MIT
//
// The digit network on a device: weights in, class scores of a picture out.
#ifndef NVDLA_EXAMPLES_DIGITS_INT8_NETWORK_HPP
#define NVDLA_EXAMPLES_DIGITS_INT8_NETWORK_HPP

#include <cstdint>
#include <nvdla/nvdla.hpp>
#include <span>
#include <vector>

#include "weights.hpp"

namespace digits {

// Describes the network to the runtime; needs no device.
nvdla::Network describe(const Weights& weights);

class Int8Network {
 public:
  // Throws nvdla::Error if the network cannot run on the device.
  Int8Network(const nvdla::Device& device, const Weights& weights,
              const nvdla::BuildOptions& options = {});

  // int8 scores of one picture, one a class; throws std::invalid_argument if its size is wrong,
  // nvdla::Error if the device fails.
  std::vector<std::int8_t> scores(std::span<const std::uint8_t> pixels);

  // Layers, estimates and statistics of the last picture.
  const nvdla::Request& request() const { return request_; }

 private:
  std::size_t pixels_;
  std::size_t classes_;
  int offset_;
  std::vector<std::int8_t> input_;
  nvdla::Request request_;
};

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_INT8_NETWORK_HPP
