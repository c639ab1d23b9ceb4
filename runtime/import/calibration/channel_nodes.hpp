// SPDX-License-Identifier: MIT
//
// Nodes before a convolution that do something with each channel.
#ifndef NVDLA_IMPORT_CALIBRATION_CHANNEL_NODES_HPP
#define NVDLA_IMPORT_CALIBRATION_CHANNEL_NODES_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include "import/nodes/operation.hpp"

namespace nvdla::import {

// Returns true for a convolution of one group whose weights and bias are constants.
bool is_plain_conv(const Operation& op);

// Returns a constant operand as one number for each channel, which are along `axis`.
std::optional<std::vector<double>> operand_of_channels(const Operation& op, std::size_t channels,
                                                       std::size_t axis);

// Returns the channels that a Gather takes, if it takes each once.
std::optional<std::vector<std::size_t>> order_of_channels(const Operation& op, std::size_t channels,
                                                          std::size_t axis);

// `Transposed` is a node that moves channels, which were along `axis`, to the second axis.
struct Transposed {
  Node node;
  std::size_t axis = 1;
};
std::optional<Transposed> channels_first(const Operation& op);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_CALIBRATION_CHANNEL_NODES_HPP
