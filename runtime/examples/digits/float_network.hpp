// SPDX-License-Identifier: MIT
//
// The digit network as it was trained, in floats on the processor: what the int8 network on the
// device is compared with. Plain loops, no device.
#ifndef NVDLA_EXAMPLES_DIGITS_FLOAT_NETWORK_HPP
#define NVDLA_EXAMPLES_DIGITS_FLOAT_NETWORK_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "weights.hpp"

namespace digits {

// Scores of one picture, row by row; throws std::invalid_argument if its size is wrong.
std::vector<float> float_scores(const Weights& weights, std::span<const std::uint8_t> pixels);

}  // namespace digits

#endif  // NVDLA_EXAMPLES_DIGITS_FLOAT_NETWORK_HPP
